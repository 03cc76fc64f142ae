"""An image as the OpenAI APIs name it: an address, or the image itself as a `data:` URL."""

from __future__ import annotations

from toolwire.model.request import ImagePart
from toolwire.model.source import Members


def image_part(url: str, detail: str | None, extra: Members = ()) -> ImagePart:
    """An https URL stays one; a data: URL is split into its media type and base64 text."""
    head, comma, data = url.partition(",")
    if url.startswith("data:") and comma and head.endswith(";base64"):
        return ImagePart(data=data, media_type=head[5:-7] or None, detail=detail, extra=extra)
    return ImagePart(url=url, detail=detail, extra=extra)
