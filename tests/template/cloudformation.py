"""Reads template.yaml as CloudFormation does: its short tags written out, and the SAM transform applied."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import boto3
import yaml
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

ROOT = Path(__file__).parents[2]


class CloudFormationLoader(yaml.CSafeLoader):
    """YAML with CloudFormation's tags."""


def _intrinsic(loader: yaml.CSafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    """`!Sub text` is short for `{"Fn::Sub": text}`; `!Ref` and `!Condition` have none, `!GetAtt a.b` is a list."""
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


CloudFormationLoader.add_multi_constructor("!", _intrinsic)


def load() -> dict[str, Any]:
    """The template as it is written. What an anchor shares is copied: the transform changes its input in place."""
    template: dict[str, Any] = json.loads(_as_json())
    return template


@functools.cache
def _as_json() -> str:
    return json.dumps(yaml.load((ROOT / "template.yaml").read_text(), CloudFormationLoader))


def transform(**parameters: str) -> dict[str, Any]:
    """The template as CloudFormation deploys it, once `sam deploy` has put the code into a bucket. `parameters`: the
    values that are not the defaults."""
    template = load()
    for resource in template["Resources"].values():
        for uri in {"CodeUri", "ContentUri"} & resource["Properties"].keys():
            resource["Properties"][uri] = "s3://bucket/key"
    return translated(template, parameters)


def translated(template: dict[str, Any], parameters: dict[str, str]) -> dict[str, Any]:
    """What the SAM transform makes of a template whose code is in a bucket."""
    written = template.get("Parameters", {})
    values = {name: str(parameter["Default"]) for name, parameter in written.items()} | parameters
    translator = Translator({}, Parser(), boto_session=boto3.session.Session(region_name="eu-central-1"))
    transformed: dict[str, Any] = json.loads(json.dumps(translator.translate(template, values)))
    return transformed
