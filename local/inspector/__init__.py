"""The inspector: pages of the local server that show each exchange, for a browser on this machine.

guard           admits only browsers on this machine
site            the pages by path, and the stream of news
page            makes a page: escapes every text, and shows invisible characters
exchange        the content of the page of one exchange
listing         the lines of the list, and its filters
requests        the client's request beside the provider's, and both as commands
conversation    the items of a conversation in the store

The pages are in templates/, the style and the script in static/. Nothing is loaded from other hosts.
"""
