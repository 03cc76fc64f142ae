"""Google's SDK for Python, which calls functions by itself.

name: google-genai for Python
install: pip google-genai==3.6.1
ways: gemini, gemini-streamed
"""

from google import genai
from google.genai import types
from tools import ROOT, STREAMED, TURNS, broken, note

retry = types.HttpRetryOptions(attempts=2)
CLIENT = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=ROOT, retry_options=retry))
history = []
for model, prompt in TURNS:
    chat = CLIENT.chats.create(model=model, config={"tools": [note, broken]}, history=history)
    if STREAMED:
        print("".join(chunk.text or "" for chunk in chat.send_message_stream(prompt)))
    else:
        print(chat.send_message(prompt).text)
    history = chat.get_history()
