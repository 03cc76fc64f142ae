"""The list of models as this API has it."""

from __future__ import annotations

#: What each model can be asked for.
_METHODS = ["generateContent", "streamGenerateContent", "countTokens"]


def model_entry(name: str) -> dict[str, object]:
    """One model. Its limits are its provider's to tell."""
    return {
        "name": f"models/{name}",
        "baseModelId": name,
        "version": "1",
        "displayName": name,
        "supportedGenerationMethods": _METHODS,
    }
