"""What a refused file is called: in words, whichever API's client has sent it."""

from __future__ import annotations

import pytest

from toolwire.model.request import FilePart, ImagePart
from toolwire.rewrite.images_and_files import not_of_type


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (FilePart("video/mp4", None, data="AA==", kind="inlineData"), "a video of the type 'video/mp4'"),
        (FilePart("audio/wav", None, data="AA==", kind="inlineData"), "a recording of the type 'audio/wav'"),
        (FilePart("x/y", None, data="AA==", kind="input_file"), "a file of the type 'x/y'"),
        (FilePart(None, None, url="gs://a/b", kind="fileData"), "a file whose type is not said"),
        (ImagePart(data="AA==", media_type="image/tiff"), "an image of the type 'image/tiff'"),
    ],
)
def test_a_file_of_another_type(part: FilePart | ImagePart, said: str) -> None:
    assert not_of_type(part, "a PDF")[0] == said
