"""The inspector: pages of the local server that show each exchange, for a browser on this machine.

guard           who may look: only this machine's own browser, whatever name it used
site            which page is where, and the stream of news
page            how a page is made: every text escaped, nothing in it invisible
exchange        what there is to show of one exchange, made when it is looked at
listing         the lines of the list, and its filters
requests        the client's request beside the provider's, and both as commands
conversation    what the store has of a conversation

The pages are in templates/, the style and the script in static/; nothing comes from elsewhere.
"""
