"""The list of models as this API has it."""

from __future__ import annotations

#: The methods of each model.
_METHODS = ["generateContent", "streamGenerateContent", "countTokens"]


def model_entry(name: str) -> dict[str, object]:
    """One model. Its limits are not known here."""
    return {
        "name": f"models/{name}",
        "baseModelId": name,
        "version": "1",
        "displayName": name,
        "supportedGenerationMethods": _METHODS,
    }
