"""Asks for the format of an answer in words, for providers that have no member for it, or none beside tools."""

from __future__ import annotations

from toolwire.model.request import ChatRequest, Message, TextPart, split_instructions
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.schema.answer_schema import enforced, of_object

#: Warning: the format of the answer is asked for in words, which a model may ignore.
IN_WORDS = "response_format_in_words"

#: Warning: some of the answer's schema is only in its descriptions.
_REDUCED = "answer_schema_reduced"

_ONE = "Unless you call a tool, answer with one JSON {} and nothing else: no text around it, no code fence."
_AS_SCHEMA = "It must be valid against this JSON Schema:"


def with_format_in_words(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with its format as the last one of its leading instructions; the same object if it asks for plain
    text."""
    shape = request.response_format
    if shape is None or shape.kind == "text":
        return request
    texts = [_ONE.format("object" if shape.schema is None or of_object(shape.schema) else "value")]
    if shape.description:
        texts.append(shape.description)
    if shape.schema is not None:
        texts += [_AS_SCHEMA, shape.schema.decode()]
    warnings.add(IN_WORDS)
    leading, others = split_instructions(request.messages)
    asked = Message("system", (TextPart("\n".join(texts)),))
    return replace(request, messages=(*leading, asked, *others), response_format=None)


def with_enforced_format(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with the schema of its answer reduced to the part of JSON Schema that the provider enforces; in words
    if that is not possible."""
    shape = request.response_format
    if shape is None or shape.schema is None:
        return request
    found = enforced(shape.schema)
    if found is None:
        return with_format_in_words(request, warnings)
    if found.is_reduced:
        warnings.add(_REDUCED)
    return replace(request, response_format=replace(shape, schema=found.raw))


def with_object_format(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with its answer's schema only if that describes an object; any other schema (of an array, a string or
    several types) is put in words. OpenAI's hosts refuse those ("schema must be a JSON Schema of 'type:
    \"object\"'")."""
    shape = request.response_format
    if shape is None or shape.schema is None:
        return request
    schema = of_object(shape.schema)
    if schema is None:
        return with_format_in_words(request, warnings)
    return request if schema is shape.schema else replace(request, response_format=replace(shape, schema=schema))
