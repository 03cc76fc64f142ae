"""OpenAI's SDK for Python, Responses: a loop by hand, the whole history sent each time.

name: openai for Python (Responses)
install: pip openai==3.57.0
ways: responses, responses-streamed
picture: [demo call picture {}]
"""

import json

from openai import OpenAI
from tools import BASE, NOTE, NOTHING, PNG, STREAMED, TURNS, broken, note

CLIENT = OpenAI(base_url=BASE, api_key="none", max_retries=1, timeout=30)


def picture() -> list:
    """Takes a picture."""
    return [{"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}]


RUN = {"note": note, "broken": broken, "picture": picture}
TOOLS = [
    {"type": "function", "name": name, "description": run.__doc__, "parameters": schema, "strict": True}
    for (name, run), schema in zip(RUN.items(), (NOTE, NOTHING, NOTHING), strict=True)
]


def ask(model: str) -> list:
    asked = {"model": model, "input": history, "tools": TOOLS, "store": False}
    if STREAMED:
        with CLIENT.responses.stream(**asked) as stream:
            response = stream.get_final_response()
    else:
        response = CLIENT.responses.create(**asked)
    history.extend(item.to_dict() for item in response.output)
    return response.output


def result(call) -> dict:
    try:
        output = RUN[call.name](**json.loads(call.arguments))
    except ValueError as error:
        output = f"Error: {error}"
    return {"type": "function_call_output", "call_id": call.call_id, "output": output}


history = []
for model, prompt in TURNS:
    history.append({"role": "user", "content": prompt})
    while calls := [item for item in ask(model) if item.type == "function_call"]:
        history += [result(call) for call in calls]
    print(history[-1]["content"][0]["text"])
