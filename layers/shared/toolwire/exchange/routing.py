"""Finds the target of a model's name: a configured provider and that provider's own name for the model.

    provider/model     the first slash divides; what follows is the provider's own name, slashes and all
    bare name          an alias, or the first pattern that matches: "claude-*" = "anthropic/claude-*"
    demo/openai        the demo provider, in OpenAI's wire format

Pure: settings in, target out.
"""

from __future__ import annotations

import re

from toolwire.model.errors import RequestError
from toolwire.model.nearest_word import did_you_mean
from toolwire.model.settings import Settings, Target, Tenant
from toolwire.providers.hosts import DEMO, DEMO_MODELS, HOSTS

#: The longest chain of aliases.
ALIAS_HOPS = 8


def route(model: str, settings: Settings) -> Target:
    """Returns the target of a model name.

    Raises RequestError (404, `model_not_found`), which lists what is configured, for an unknown name.
    """
    name = model
    for _ in range(ALIAS_HOPS):
        provider, slash, provider_model = name.partition("/")
        if slash:
            return _target(model, provider, provider_model, settings)
        alias = _alias(name, settings.aliases)
        if alias is None:
            raise _unknown_name(model, name, settings)
        name = alias
    raise _not_found(f"The alias {_shown(model)} does not end at a provider after {ALIAS_HOPS} steps.", settings)


def may_use(tenant: Tenant, model: str, target: Target) -> bool:
    """Whether the tenant may use a model, by the name in the request or by "provider/model" of its target."""
    if tenant.models is None:
        return True
    names = (model, f"{target.provider.name}/{target.model}")
    return any(_matches(pattern, name) for pattern in tenant.models for name in names)


def check_door(tenant: Tenant, door: str) -> None:
    """Raises RequestError (403) for a door that the tenant may not use."""
    if tenant.doors is not None and door not in tenant.doors:
        message = f"This key is not for the {door} API; it is for: {', '.join(tenant.doors) or 'none'}."
        raise RequestError(message, status=403, code="door_not_allowed")


def check_model(tenant: Tenant, model: str, target: Target) -> None:
    """Raises RequestError (403) for a model that the tenant may not use."""
    if not may_use(tenant, model, target):
        message = (
            f"This key may not use the model {_shown(model)}; it may use: {', '.join(tenant.models or ('none',))}."
        )
        raise RequestError(message, status=403, code="model_not_allowed", param="model")


def _matches(pattern: str, name: str) -> bool:
    """Whether a pattern, in which "*" is any text, matches the whole name."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _target(model: str, provider: str, provider_model: str, settings: Settings) -> Target:
    """The target of `provider/provider_model`; `model` is what the client wrote."""
    if not provider_model:
        raise _not_found(f"The model {_shown(model)} names a provider but no model.", settings)
    if provider == DEMO:
        if not settings.enable_demo:
            raise _not_found("The demo provider is switched off here (ENABLE_DEMO=0).", settings)
        if provider_model not in DEMO_MODELS:
            problem = f"The demo provider has no model {_shown(provider_model)}."
            raise _not_found(problem, settings, did_you_mean(provider_model, DEMO_MODELS, before=f"{DEMO}/"))
        return Target(DEMO_MODELS[provider_model], provider_model)
    config = settings.providers.get(provider)
    if config is None:
        asks = f"The model {_shown(model)} asks for provider {_shown(provider)}, "
        if known := next((host for host in HOSTS if host.name == provider), None):  # `load_settings` has left it out
            own = f"whose address {known.base_url} is this gateway's own here"
            fix = f"serve the gateway at another port, or set {known.base_url_variable}"
            raise _not_found(f"{asks}{own}: {fix}.", settings)
        problem = f"{asks}which is not configured here."
        raise _not_found(problem, settings, did_you_mean(provider, (*settings.providers, DEMO)))
    return Target(config, provider_model)


def _unknown_name(model: str, name: str, settings: Settings) -> RequestError:
    """The error for a bare name that is no alias. `model` is what the client wrote."""
    if name in settings.providers or name == DEMO:
        return _not_found(f"The model {_shown(model)} names a provider but no model.", settings)
    maker = next((host.name for host in HOSTS if name.startswith(host.makes) and host.name in settings.providers), None)
    meant = f" Did you mean {_shown(f'{maker}/{name}')}?" if maker else ""
    known = (*settings.aliases, *_demo_models(settings))
    problem = f"The model {_shown(model)} is not configured here."
    return _not_found(problem, settings, did_you_mean(name, known) or meant)


def _alias(name: str, aliases: dict[str, str]) -> str | None:
    """What a bare name stands for: an exact alias, else the first pattern that matches."""
    exact = aliases.get(name)
    if exact is not None and "*" not in name:
        return exact
    for pattern, target in aliases.items():
        before, star, after = pattern.partition("*")
        long_enough = len(name) >= len(before) + len(after)
        if star and long_enough and name.startswith(before) and name.endswith(after):
            return target.replace("*", name[len(before) : len(name) - len(after)])
    return None


def _shown(name: str) -> str:
    """A name from the request, quoted and cut for an error message."""
    return repr(name if len(name) <= 100 else name[:100] + "...")


def _demo_models(settings: Settings) -> list[str]:
    return [f"{DEMO}/{name}" for name in DEMO_MODELS] if settings.enable_demo else []


def _not_found(problem: str, settings: Settings, meant: str = "") -> RequestError:
    """The 404, with the names that a client could use instead. It never names an address or a credential."""
    providers = _demo_models(settings) + sorted(settings.providers)
    message = f'{problem}{meant} Write "provider/model". Configured: {", ".join(providers) or "no provider"}'
    if settings.aliases:
        message += f"; aliases: {', '.join(settings.aliases)}"
    return RequestError(f"{message}.", status=404, code="model_not_found", param="model")
