"""Files on every door and every wire: each arrives, or is refused by its exact path with what to send instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.doors import DOORS, load_door
from toolwire.model.errors import RequestError
from toolwire.providers import WIRES, load_provider

PDF, TEXT, AUDIO, WORD = "JVBERi0xLjQK", "aGk=", "UklGRg==", "UEsDBA=="
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
URL = "https://example.com/a.pdf"


def document(source: dict[str, Any]) -> dict[str, Any]:
    return {"type": "document", "title": "a.pdf", "source": source}


def file(**members: Any) -> dict[str, Any]:
    return {"type": "file", "file": members}


def input_file(**members: Any) -> dict[str, Any]:
    return {"type": "input_file", **members}


def inline(media_type: str, data: str, name: str | None = None) -> dict[str, Any]:
    named = {} if name is None else {"displayName": name}
    return {"inlineData": {"mimeType": media_type, "data": data, **named}}


RECORDING = {"type": "input_audio", "input_audio": {"data": AUDIO, "format": "wav"}}


def by_bytes(make: Callable[..., dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        "pdf": make(filename="a.pdf", file_data=f"data:application/pdf;base64,{PDF}"),
        "text": make(filename="a.txt", file_data=f"data:text/plain;charset=utf-8;base64,{TEXT}"),
        "word": make(filename="a.docx", file_data=f"data:{WORD_TYPE};base64,{WORD}"),
        "audio": RECORDING,
    }


#: Door -> what is sent -> as its clients write it.
PARTS: dict[str, dict[str, dict[str, Any]]] = {
    "messages": {
        "pdf": document({"type": "base64", "media_type": "application/pdf", "data": PDF}),
        "text": document({"type": "text", "media_type": "text/plain", "data": "hi"}) | {"title": "a.txt"},
        "url": document({"type": "url", "url": URL}),
        "id": document({"type": "file", "file_id": "file_1"}),
    },
    "chat_completions": by_bytes(file) | {"id": file(file_id="file_1")},
    "responses": by_bytes(input_file) | {"url": input_file(file_url=URL), "id": input_file(file_id="file_1")},
    "gemini": {
        "pdf": inline("application/pdf", PDF, "a.pdf"),
        "text": inline("text/plain", TEXT, "a.txt"),
        "word": inline(WORD_TYPE, WORD, "a.docx"),
        "audio": inline("audio/wav", AUDIO),
        "url": {"fileData": {"fileUri": URL, "mimeType": "application/pdf"}},
    },
    "native": by_bytes(file),
}


def in_message(door: str, *parts: dict[str, Any]) -> list[dict[str, Any]]:
    """A turn of the user's that holds these parts."""
    return [{"role": "user", "parts" if door == "gemini" else "content": list(parts)}]


def in_result(door: str, part: dict[str, Any]) -> list[dict[str, Any]]:
    """A question, a call, and the result that holds the part behind a text."""
    call: dict[str, Any]
    question = {"role": "user", "content": "x"}
    content = [{"type": "text", "text": "Read it"}, part]
    match door:
        case "gemini":
            call = {"id": "c1", "name": "read"}
            answered = {"functionResponse": {**call, "response": {"output": "Read it"}, "parts": [part]}}
            asked = [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"functionCall": call}]}]
            return [*asked, {"role": "user", "parts": [answered]}]
        case "responses":
            call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
            output = [{"type": "input_text", "text": "Read it"}, part]
            return [question, call, {**call, "type": "function_call_output", "output": output}]
        case "messages":
            call = {"type": "tool_use", "id": "c1", "name": "read", "input": {}}
            result = {"type": "tool_result", "tool_use_id": "c1", "content": content}
            return [question, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        case _:
            arguments = {} if door == "native" else "{}"
            call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": arguments}}
            result = {"role": "tool", "tool_call_id": "c1", "content": content}
            return [question, {"role": "assistant", "content": None, "tool_calls": [call]}, result]


#: Door -> where the part stands in a message.
PATHS = {"messages": "messages[0].content[0]", "responses": "input[0].content[0]", "gemini": "contents[0].parts[0].{}"}
#: Door -> the member that holds the history.
HISTORY = {"responses": "input", "gemini": "contents"}


def body_of(door: str, history: list[dict[str, Any]]) -> bytes:
    limit = {"generationConfig": {"maxOutputTokens": 99}} if door == "gemini" else {"max_tokens": 99}
    return json.dumps({"model": "m", **limit, HISTORY.get(door, "messages"): history}).encode()


def sent(door: str, wire: str, history: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    profile = "openai" if wire.startswith("openai") else None
    model = "gemini-3-flash" if wire == "gemini" else "m"
    exchange = open_exchange(body_of(door, history), door=door, wire=wire, profile=profile, model=model)
    return json.loads(exchange.upstream_request.body), list(exchange.figures.warnings)


# ---------------------------------------------------------------- what arrives

Seen = tuple[str, str, str]  # where ("user", "result"), what it is, its bytes or text


def chat_part(place: str, part: dict[str, Any]) -> Seen:
    match part:
        case {"type": "file", "file": {"file_data": str(data), "filename": str(name)}}:
            return place, name, data.partition(",")[2]
        case {"type": "file", "file": {"file_id": str(file_id)}}:
            return place, "id", file_id
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
            return place, form, data
    return place, "text", part["text"]


def responses_part(place: str, part: dict[str, Any]) -> Seen:
    match part:
        case {"file_data": str(data), "filename": str(name)}:
            return place, name, data.partition(",")[2]
        case {"file_url": str(url)}:
            return place, "url", url
        case {"file_id": str(file_id)}:
            return place, "id", file_id
    return place, "text", part["text"]


def messages_part(place: str, part: dict[str, Any]) -> Seen:
    match part:
        case {"type": "document", "title": str(title), "source": {"data": str(data)}}:
            return place, title, data
        case {"type": "document", "source": {"url": str(url)}}:
            return place, "url", url
    return place, "text", part["text"]


def gemini_part(place: str, part: dict[str, Any]) -> Seen:
    match part:
        case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
            return place, kind, data
        case {"fileData": {"mimeType": str(kind), "fileUri": str(address)}}:
            return place, kind, address
    return place, "text", part["text"]


def bedrock_part(place: str, part: dict[str, Any]) -> Seen:
    match part:
        case {"document": {"format": str(form), "source": {"bytes": str(data)}}}:
            return place, form, data
        case {"document": {"format": str(form), "source": {"text": str(text)}}}:
            return place, form, text
    return place, "text", part["text"]


def bedrock_parts(body: dict[str, Any]) -> Iterator[Seen]:
    for message in body["messages"]:
        for block in message["content"]:
            if result := block.get("toolResult"):
                yield from (bedrock_part("result", inner) for inner in result["content"])
            elif message["role"] == "user":
                yield bedrock_part("user", block)


def gemini_parts(body: dict[str, Any]) -> Iterator[Seen]:
    for content in body["contents"]:
        for part in content["parts"]:
            if answer := part.get("functionResponse"):
                yield "result", "text", answer["response"]["output"]
                yield from (gemini_part("result", inner) for inner in answer.get("parts", ()))
            elif content["role"] == "user":
                yield gemini_part("user", part)


def seen(wire: str, body: dict[str, Any]) -> list[Seen]:
    """What the request holds besides the question and the call."""
    found: list[Seen] = []
    if wire == "gemini":
        found += gemini_parts(body)
    elif wire == "bedrock_converse":
        found = [item for item in bedrock_parts(body) if item != ("user", "text", "(no text)")]
    elif wire == "openai_responses":
        for item in body["input"]:
            place = "result" if item["type"] == "function_call_output" else "user"
            content = item.get("output", item.get("content"))
            items: list[dict[str, Any]] = [{"text": content}] if isinstance(content, str) else content or []
            found += [responses_part(place, part) for part in items]
    else:
        read = chat_part if wire == "openai_chat" else messages_part
        for message in body["messages"]:
            place = "result" if message["role"] == "tool" else "user"
            content = message["content"]
            parts: list[dict[str, Any]] = (
                [{"text": content, "type": "text"}] if isinstance(content, str) else content or []
            )
            for part in parts:
                if part.get("type") == "tool_result":
                    found += [read("result", inner) for inner in part["content"]]
                elif message["role"] != "assistant":
                    found.append(read(place, part))
    return [item for item in found if item != ("user", "text", "x")]


#: Wire -> what is sent -> how it arrives; a word in place of that is what the refusal says instead.
TITLED = ("text", "a.txt\n\nhi")
ARRIVES: dict[str, dict[str, tuple[str, str] | str]] = {
    "openai_chat": {"pdf": ("a.pdf", PDF), "text": TITLED, "word": ("a.docx", WORD), "audio": ("wav", AUDIO),
                    "url": "send the file itself", "id": ("id", "file_1")},
    "openai_responses": {"pdf": ("a.pdf", PDF), "text": ("a.txt", TEXT), "word": ("a.docx", WORD),
                         "audio": "a recording of the type 'audio/wav'", "url": ("url", URL), "id": ("id", "file_1")},
    "anthropic_messages": {"pdf": ("a.pdf", PDF), "text": ("a.txt", "hi"), "word": WORD_TYPE,
                           "audio": "a recording of the type 'audio/wav'", "url": ("url", URL),
                           "id": "send the file itself"},
    "gemini": {"pdf": ("application/pdf", PDF), "text": ("text/plain", TEXT), "word": WORD_TYPE,
               "audio": ("audio/wav", AUDIO), "url": ("application/pdf", URL), "id": "send the file itself"},
    "bedrock_converse": {"pdf": ("pdf", PDF), "text": ("txt", "hi"), "word": ("docx", WORD),
                         "audio": "a recording of the type 'audio/wav'", "url": "send the file itself",
                         "id": "send the file itself"},
}  # fmt: skip


def expected(door: str, wire: str, kind: str) -> tuple[str, str] | str:
    arrives = ARRIVES[wire][kind]
    if door != "messages" or wire in ("anthropic_messages", "bedrock_converse"):
        return arrives
    # A document that is written out, and a file at Anthropic.
    if kind == "text":
        return TITLED
    return "send the file itself" if kind == "id" else arrives


CELLS = [(door, wire, kind) for door in DOORS for wire in WIRES for kind in PARTS[door] if wire in ARRIVES]
FOREIGN = [cell for cell in CELLS if load_door(cell[0]).dialect != load_provider(cell[1]).dialect]


def path_of(door: str, kind: str) -> str:
    return PATHS.get(door, "messages[0].content[0]").format("fileData" if kind == "url" else "inlineData")


@each_row(("door", "wire", "kind"), FOREIGN)
def test_in_a_message(door: str, wire: str, kind: str) -> None:
    history = in_message(door, PARTS[door][kind])
    arrives = expected(door, wire, kind)
    if isinstance(arrives, str):
        check_refusal(door, wire, history, path_of(door, kind), arrives)
        return
    body, warnings = sent(door, wire, history)
    assert seen(wire, body) == [("user", *arrives)]
    assert ("document_as_text" in warnings) is (arrives == TITLED)


@each_row(("door", "wire", "kind"), FOREIGN)
def test_in_a_result(door: str, wire: str, kind: str) -> None:
    history = in_result(door, PARTS[door][kind])
    arrives = expected(door, wire, kind)
    body, warnings = sent(door, wire, history)
    if isinstance(arrives, str):  # what cannot be sent is in words: nobody can take it out of a result
        assert "which this model cannot be sent)" in json.dumps(body)
        assert "images_in_words" in warnings
        return
    if arrives[0] == "text":
        assert "".join(text for _, _, text in seen(wire, body)).replace("\n", "") == "Read ita.txthi"
    elif wire == "openai_chat" or (wire == "gemini" and kind in ("audio", "url")):
        first, told, behind = seen(wire, body)
        assert (first[0], told[0], behind) == ("result", "user", ("user", *arrives))
        assert first[2].startswith("Read it")
    else:
        assert seen(wire, body) == [("result", "text", "Read it"), ("result", *arrives)]


def check_refusal(door: str, wire: str, history: list[dict[str, Any]], path: str, says: str) -> None:
    with pytest.raises(RequestError) as refused:
        sent(door, wire, history)
    assert (refused.value.code, refused.value.param) == ("unsupported_content", path)
    assert says in refused.value.message
    assert f"`{path}`" in refused.value.message


@each_row(("door", "wire", "kind"), [cell for cell in CELLS if cell not in FOREIGN])
def test_a_client_of_the_same_api_has_its_own_bytes(door: str, wire: str, kind: str) -> None:
    for history in (in_message(door, PARTS[door][kind]), in_result(door, PARTS[door][kind])):
        body, warnings = sent(door, wire, history)
        assert body[HISTORY.get(door, "messages")] == history
        assert warnings == []


IMAGE = "image/jpg;base64,/9j/4A=="
IMAGES: dict[str, dict[str, Any]] = {
    "messages": {"type": "image", "source": {"type": "base64", "media_type": "image/jpg", "data": "/9j/4A=="}},
    "chat_completions": {"type": "image_url", "image_url": {"url": f"data:{IMAGE}"}},
    "responses": {"type": "input_image", "image_url": f"data:{IMAGE}"},
    "gemini": inline("image/jpg", "/9j/4A=="),
    "native": {"type": "image_url", "image_url": {"url": f"data:{IMAGE}"}},
}


@each_row(("door", "wire"), sorted({cell[:2] for cell in FOREIGN}))
def test_a_jpeg_goes_by_its_name(door: str, wire: str) -> None:
    for history in (in_message(door, IMAGES[door]), in_result(door, IMAGES[door])):
        body = json.dumps(sent(door, wire, history)[0])
        assert ('"format": "jpeg"' if wire == "bedrock_converse" else "image/jpeg") in body
        assert "image/jpg" not in body


def test_a_document_with_images_is_shown_in_its_order() -> None:
    inner = [{"type": "text", "text": "one"}, IMAGES["messages"], {"type": "text", "text": "two"}]
    written = document({"type": "content", "content": inner}) | {"context": "of May"}
    (message,) = sent("messages", "openai_chat", [{"role": "user", "content": [written]}])[0]["messages"]
    image = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/4A=="}}
    texts = [{"type": "text", "text": text} for text in ("a.pdf\n\nof May", "one", "two")]
    assert message["content"] == [texts[0], texts[1], image, texts[2]]


@each_row("wire", sorted({wire for door, wire, _ in FOREIGN if door == "messages"}))
@each_row("kind", ["base64", "text"])
def test_what_is_told_about_a_document_is_told(wire: str, kind: str) -> None:
    data = (
        {"media_type": "application/pdf", "data": PDF}
        if kind == "base64"
        else {"media_type": "text/plain", "data": "D"}
    )
    told = document({"type": kind, **data}) | {"context": "the May report"}
    for history in ([{"role": "user", "content": [told]}], in_result("messages", told)):
        assert json.dumps(sent("messages", wire, history)[0]).count("the May report") == 1


def test_what_a_search_has_found_reaches_other_providers() -> None:
    found = {"type": "search_result", "source": "https://a", "title": "T", "content": [{"type": "text", "text": "D"}]}
    body, warnings = sent("messages", "openai_chat", in_result("messages", found))
    assert body["messages"][2]["content"] == "Read it\nT\n\nhttps://a\n\nD"
    assert warnings == ["document_as_text"]


def test_a_name_says_what_a_file_is() -> None:
    for name, data in (("a.pdf", "AAAA"), (None, PDF)):
        part = input_file(filename=name, file_data=data)
        body, _ = sent("responses", "gemini", [{"role": "user", "content": [part]}])
        assert seen("gemini", body) == [("user", "application/pdf", data)]


@pytest.mark.parametrize(("kind", "url"), [("pdf", f"data:application/pdf;base64,{PDF}"), ("url", URL)])
def test_mistral_has_its_own_word_for_a_document(kind: str, url: str) -> None:
    history = in_result("messages", PARTS["messages"][kind])
    exchange = open_exchange(body_of("messages", history), door="messages", profile="mistral")
    tool, user = json.loads(exchange.upstream_request.body)["messages"][-2:]
    assert (tool["role"], tool["content"]) == ("tool", "Read it\n(A file: it follows the tool results.)")
    assert user["content"][1] == {"type": "document_url", "document_url": url, "document_name": "a.pdf"}
