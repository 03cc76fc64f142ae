"""Google's Agent Development Kit, over Gemini's API.

name: google-adk
install: pip google-adk==2.13.0
ways: gemini, gemini-streamed
"""

import asyncio
import os

from tools import ROOT, STREAMED, TURNS, broken, note

os.environ |= {"GOOGLE_GEMINI_BASE_URL": ROOT, "GEMINI_API_KEY": "none", "GOOGLE_API_KEY": "none"}

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types


def broken_tool() -> dict:
    """Does not work."""
    try:
        return {"output": broken()}
    except ValueError as error:
        return {"error": str(error)}


broken_tool.__name__ = "broken"


async def main() -> None:
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="app", user_id="user")
    for name, prompt in TURNS:
        agent = Agent(name="agent", model=Gemini(model=name), tools=[note, broken_tool])
        runner = Runner(app_name="app", agent=agent, session_service=sessions)
        mode = RunConfig(streaming_mode=StreamingMode.SSE if STREAMED else StreamingMode.NONE)
        message = types.Content(role="user", parts=[types.Part(text=prompt)])
        said = runner.run_async(user_id="user", session_id=session.id, new_message=message, run_config=mode)
        async for event in said:
            if event.error_code:
                raise RuntimeError(f"{event.error_code} {event.error_message}")
            if event.is_final_response() and event.content:
                print("".join(part.text or "" for part in event.content.parts))


asyncio.run(main())
