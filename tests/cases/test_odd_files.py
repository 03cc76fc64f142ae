"""Files as clients write them against the documentation: under another type, in another form, as another part."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases.test_files import FOREIGN, PDF, in_message, in_result, inline, sent
from tests.named_rows import each_row
from toolwire.model.errors import RequestError

#: The first bytes of an image of each type, of a length at which base64 in the alphabet for URLs differs.
FORMATS = {
    "png": "iVBORw0KGgo++//A", "jpeg": "/9j/4A+/+/+A", "gif": "R0lGODlh++//", "webp": "UklGRiQAAABXRUJQ++//",
}  # fmt: skip
#: Pairs of a door and a wire of another API.
PAIRS = sorted({cell[:2] for cell in FOREIGN})


def image(door: str, media_type: str, data: str) -> dict[str, Any]:
    url = f"data:{media_type};base64,{data}"
    match door:
        case "messages":
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case "responses":
            return {"type": "input_image", "image_url": url}
        case "gemini":
            return inline(media_type, data)
        case _:
            return {"type": "image_url", "image_url": {"url": url}}


def bodies(door: str, wire: str, part: dict[str, Any]) -> list[str]:
    """What is sent for the part in a message, and for it in a result."""
    return [json.dumps(sent(door, wire, history)[0]) for history in (in_message(door, part), in_result(door, part))]


@each_row(("door", "wire"), PAIRS)
@each_row("real", FORMATS)
def test_an_image_is_what_its_bytes_say(door: str, wire: str, real: str) -> None:
    """Clients go by a file's ending, and Anthropic refuses a type that is not the bytes'."""
    for body in bodies(door, wire, image(door, "image/png" if real != "png" else "image/jpeg", FORMATS[real])):
        named = f'"format": "{real}"' if wire == "bedrock_converse" else f"image/{real}"
        assert named in body


def test_a_type_that_the_bytes_do_not_tell_is_the_clients() -> None:
    for body in bodies("chat_completions", "anthropic_messages", image("chat_completions", "image/webp", "AAAA")):
        assert '"media_type": "image/webp"' in body


@each_row(("door", "wire"), PAIRS)
def test_base64_is_sent_as_every_api_takes_it(door: str, wire: str) -> None:
    """MIME writes it in lines, Google's SDKs in the alphabet for URLs."""
    whole = FORMATS["png"] + "AA=="
    for data in (whole[:8] + "\r\n" + whole[8:] + "\n", whole.replace("+", "-").replace("/", "_")):
        for body in bodies(door, wire, image(door, "image/png", data)):
            assert whole in body


@each_row("door", ["chat_completions", "native", "responses"])
@each_row("wire", ["anthropic_messages", "bedrock_converse", "gemini"])
def test_a_document_in_the_place_of_an_image_is_a_document(door: str, wire: str) -> None:
    form = {"anthropic_messages": '"type": "document"', "bedrock_converse": '"format": "pdf"', "gemini": "inlineData"}
    for body in bodies(door, wire, image(door, "application/pdf", PDF)):
        assert (form[wire] in body, PDF in body, "image" in body) == (True, True, False)


VIDEO = "https://example.com/a.mp4"
#: A part that compatible hosts have -> what Gemini is sent.
MEDIA: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a video by its address": (
        {"type": "video_url", "video_url": {"url": VIDEO}}, {"fileData": {"mimeType": "video/mp4", "fileUri": VIDEO}},
    ),
    "a video whose address tells no type": (
        {"type": "video_url", "video_url": {"url": "https://youtu.be/x"}}, {"fileData": {"fileUri": "https://youtu.be/x"}},
    ),
    "a video's bytes": (
        {"type": "video_url", "video_url": {"url": "data:video/webm;base64,AAAA"}}, inline("video/webm", "AAAA"),
    ),
    "a recording's bytes": (
        {"type": "audio_url", "audio_url": {"url": "data:audio/x-wav;base64,AAAA"}}, inline("audio/wav", "AAAA"),
    ),
    "a recording, as MCP has it": (
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}, inline("audio/wav", "AAAA"),
    ),
    "a file, as the Responses API has it": (
        {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        inline("application/pdf", PDF),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("part", "expected"), MEDIA.values(), ids=MEDIA)
def test_parts_of_compatible_hosts(part: dict[str, Any], expected: dict[str, Any]) -> None:
    (turn,) = sent("chat_completions", "gemini", in_message("chat_completions", part))[0]["contents"]
    assert turn["parts"] == [expected]
    (own,) = sent("chat_completions", "openai_chat", in_message("chat_completions", part))[0]["messages"]
    assert own["content"] == [part]


@pytest.mark.parametrize("wire", ["anthropic_messages", "bedrock_converse"])
def test_a_video_that_nobody_can_see_is_refused_by_its_place(wire: str) -> None:
    with pytest.raises(RequestError, match="a video of the type") as refused:
        sent("chat_completions", wire, in_message("chat_completions", MEDIA["a video's bytes"][0]))
    assert (refused.value.param, refused.value.code) == ("messages[0].content[0]", "unsupported_content")
