"""The hosts that work without any configuration: protocol, address, and the variables that their users already set.

One row a host. The base URL and its variable mean what the host's own SDK means by them; where that is not the root of
its OpenAI-compatible API (Groq, Cerebras), no variable is read. A row is a default: the configuration document may
change any of its fields, and add hosts (Azure OpenAI has an address for each customer, so it is only ever configured).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolwire.model.settings import ProviderConfig


@dataclass(frozen=True, slots=True)
class Host:
    """A host that is known by name.

    `credentials` are the variables that may hold its key, the first one that is set wins; none: it asks for no key.
    `base_url_variable` replaces `base_url` where it is set. `profile` names a row of `providers/profiles.py`.
    `{region}` in `base_url` stands for an AWS region; such a host needs no key: without one its requests are signed
    with the AWS credentials of this process.
    """

    name: str
    wire: str
    base_url: str
    credentials: tuple[str, ...] = ()
    base_url_variable: str | None = None
    profile: str | None = None
    #: Prefixes of its own models' names, for clients that name a model without its provider.
    makes: tuple[str, ...] = ()


def _chat(name: str, base_url: str, *credentials: str, profile: str | None = None, makes: tuple[str, ...] = ()) -> Host:
    """A host of the Chat API. No SDK has a variable for its address."""
    return Host(name, "openai_chat", base_url, credentials, profile=profile, makes=makes)


HOSTS: tuple[Host, ...] = (
    Host(
        "openai",
        "openai_chat",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "OPENAI_BASE_URL",
        "openai",
        ("gpt-", "chatgpt-", "o1", "o3", "o4"),
    ),
    Host(
        "anthropic",
        "anthropic_messages",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        "ANTHROPIC_BASE_URL",
        "anthropic",
        ("claude-",),
    ),
    Host(
        "google",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "GEMINI_BASE_URL",
        makes=("gemini-",),
    ),
    Host(
        "deepseek",
        "openai_chat",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        "DEEPSEEK_BASE_URL",
        "deepseek",
        ("deepseek-",),
    ),
    _chat("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", profile="mistral"),
    _chat("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", profile="groq"),
    _chat("xai", "https://api.x.ai/v1", "XAI_API_KEY", profile="xai"),
    Host(
        "openrouter",
        "openai_chat",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        "OPENROUTER_BASE_URL",
        "openrouter",
    ),
    Host(
        "together",
        "openai_chat",
        "https://api.together.xyz/v1",
        ("TOGETHER_API_KEY",),
        "TOGETHER_BASE_URL",
        "together",
    ),
    _chat("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", profile="fireworks"),
    _chat("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", profile="cerebras"),
    _chat("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", profile="moonshot"),
    _chat("zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", profile="zai", makes=("glm-",)),
    _chat(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        profile="dashscope",
        makes=("qwen", "qwq-", "qvq-"),
    ),
    _chat("minimax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", profile="minimax", makes=("MiniMax-",)),
    _chat(
        "volcengine",
        "https://ark.cn-beijing.volces.com/api/v3",
        "ARK_API_KEY",
        profile="volcengine",
        makes=("doubao-",),
    ),
    _chat("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", profile="nvidia"),
    _chat("chutes", "https://llm.chutes.ai/v1", "CHUTES_API_KEY", profile="chutes"),
    _chat("siliconflow", "https://api.siliconflow.com/v1", "SILICONFLOW_API_KEY", profile="siliconflow"),
    _chat("novita", "https://api.novita.ai/openai/v1", "NOVITA_API_KEY", profile="novita"),
    _chat("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY", profile="deepinfra"),
    _chat("nebius", "https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY", profile="nebius"),
    _chat("baseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY", profile="baseten"),
    _chat("friendli", "https://api.friendli.ai/serverless/v1", "FRIENDLI_TOKEN", profile="friendli"),
    _chat("sambanova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    _chat("inference", "https://api.inference.net/v1", "INFERENCE_API_KEY"),
    _chat("venice", "https://api.venice.ai/api/v1", "VENICE_API_KEY", profile="venice"),
    _chat("scaleway", "https://api.scaleway.ai/v1", "SCALEWAY_API_KEY", "SCW_SECRET_KEY", profile="scaleway"),
    _chat("ovhcloud", "https://oai.endpoints.kepler.ai.cloud.ovh.net/v1", "OVHCLOUD_API_KEY"),
    _chat("digitalocean", "https://inference.do-ai.run/v1", "DIGITALOCEAN_ACCESS_TOKEN", profile="digitalocean"),
    _chat("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN"),
    _chat("stepfun", "https://api.stepfun.com/v1", "STEPFUN_API_KEY", profile="stepfun"),
    _chat("tencent", "https://tokenhub.tencentmaas.com/v1", "TENCENT_TOKENHUB_API_KEY", profile="tencent"),
    _chat("hunyuan", "https://api.hunyuan.cloud.tencent.com/v1", "HUNYUAN_API_KEY", profile="hunyuan"),
    _chat("qianfan", "https://qianfan.baidubce.com/v2", "QIANFAN_API_KEY", profile="qianfan"),
    _chat("xiaomi", "https://api.xiaomimimo.com/v1", "XIAOMI_API_KEY", profile="xiaomi"),
    _chat("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY", profile="cohere"),
    _chat("perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    # Gateways of others, and what they call their own.
    _chat("vercel", "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY", profile="vercel"),
    _chat("requesty", "https://router.requesty.ai/v1", "REQUESTY_API_KEY", profile="requesty"),
    _chat("helicone", "https://ai-gateway.helicone.ai/v1", "HELICONE_API_KEY"),
    _chat("poe", "https://api.poe.com/v1", "POE_API_KEY"),
    _chat("kilo", "https://api.kilo.ai/api/gateway", "KILO_API_KEY", profile="openrouter"),
    _chat("opencode", "https://opencode.ai/zen/v1", "OPENCODE_API_KEY"),
    _chat("ollama-cloud", "https://ollama.com/v1", "OLLAMA_API_KEY", profile="ollama"),
    # Amazon Bedrock by its own API, and by those of OpenAI and Anthropic, with the same credentials. The variable that
    # holds the address of the first is AWS's own.
    Host(
        "bedrock",
        "bedrock_converse",
        "https://bedrock-runtime.{region}.amazonaws.com",
        ("AWS_BEARER_TOKEN_BEDROCK",),
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        "bedrock",
    ),
    _chat(
        "bedrock-openai",
        "https://bedrock-runtime.{region}.amazonaws.com/openai/v1",
        "AWS_BEARER_TOKEN_BEDROCK",
        profile="bedrock-openai",
    ),
    Host(
        "bedrock-anthropic",
        "anthropic_messages",
        "https://bedrock-mantle.{region}.api.aws/anthropic",
        ("AWS_BEARER_TOKEN_BEDROCK",),
        profile="anthropic",
    ),
    # Servers on this machine, at their default ports.
    Host(
        "ollama",
        "openai_chat",
        "http://127.0.0.1:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        profile="ollama",
    ),
    Host("vllm", "openai_chat", "http://127.0.0.1:8000/v1", base_url_variable="VLLM_BASE_URL", profile="vllm"),
    Host(
        "llamacpp",
        "openai_chat",
        "http://127.0.0.1:8080/v1",
        base_url_variable="LLAMACPP_BASE_URL",
        profile="llamacpp",
    ),
    Host(
        "lmstudio",
        "openai_chat",
        "http://127.0.0.1:1234/v1",
        base_url_variable="LMSTUDIO_BASE_URL",
        profile="lmstudio",
    ),
    Host("sglang", "openai_chat", "http://127.0.0.1:30000/v1", base_url_variable="SGLANG_BASE_URL", profile="sglang"),
)

#: Other addresses of known hosts: a regular expression for the whole address, and the profile of a provider there that
#: names none. They are other regions, plans for coding, and addresses in the host's documentation. Each is for the Chat
#: API only: at other paths the same hosts speak other APIs.
OTHER_ADDRESSES: tuple[tuple[str, str], ...] = (
    (r"https://[a-z]{2}\.api\.openai\.com/v1", "openai"),
    (r"https://[a-z0-9-]+\.openai\.azure\.com/openai(/.*)?", "azure"),
    (r"https://generativelanguage\.googleapis\.com/v1beta/openai", "gemini-compat"),
    (r"https://api\.deepseek\.com(/beta)?", "deepseek"),
    (r"https://api\.moonshot\.cn/v1", "moonshot"),
    (r"https://(api\.z\.ai|open\.bigmodel\.cn)/api(/coding)?/paas/v4", "zai"),
    (r"https://dashscope(-us|-intl)?\.aliyuncs\.com/compatible-mode/v1", "dashscope"),
    (r"https://coding(-intl)?\.dashscope\.aliyuncs\.com/v1", "dashscope"),
    (r"https://api\.minimaxi\.com/v1", "minimax"),
    (r"https://ark\.[a-z-]+\.(volces|bytepluses)\.com/api(/coding)?/v3", "volcengine"),
    (r"https://api\.siliconflow\.cn/v1", "siliconflow"),
    (r"https://api\.stepfun\.ai/v1", "stepfun"),
    (r"https://api\.together\.ai/v1", "together"),
    (r"https://api\.cloudflare\.com/client/v4/accounts/[0-9a-f]+/ai/v1", "cloudflare"),
)

#: Host -> its name in OpenTelemetry's conventions for generative AI, if that differs.
TRACED_AS = {
    "bedrock": "aws.bedrock",
    "bedrock-anthropic": "aws.bedrock",
    "bedrock-openai": "aws.bedrock",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "xai": "x_ai",
}

#: The default region of a host of AWS.
DEFAULT_REGION = "us-east-1"

#: The service and the region in an address of AWS: public, FIPS, or of a VPC.
_AWS_ADDRESS = re.compile(r"\b(bedrock-[a-z]+?)(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-[0-9])\.")

#: The first label of an address -> the service's name in signatures, if that differs.
_SIGNING_NAMES = {"bedrock-runtime": "bedrock"}


@dataclass(frozen=True, slots=True)
class AwsScope:
    """The service and region for which a request to AWS is signed. `profile`: the AWS profile with the credentials;
    None: those of this process, such as a function's role."""

    service: str
    region: str
    profile: str | None = None


def aws_scope(provider: ProviderConfig) -> AwsScope | None:
    """The scope in which requests to this provider are signed; None if they are not signed."""
    kind, _, profile = provider.credential.partition(":")
    if kind != "aws":
        return None
    found = _AWS_ADDRESS.search(provider.base_url)
    label, region = found.groups() if found else ("bedrock-runtime", DEFAULT_REGION)
    return AwsScope(_SIGNING_NAMES.get(label, label), provider.region or region, profile or None)


#: The name of the demo provider, which no configuration may use.
DEMO = "demo"

#: The model that the demo plays at Bedrock.
_DEMO_CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"

#: The demo's models, each in the true format of one wire. The base URL is relative to wherever the demo server listens.
DEMO_MODELS: dict[str, ProviderConfig] = {
    "openai": ProviderConfig(name=DEMO, wire="openai_chat", base_url="/openai/v1", profile="openai"),
    "responses": ProviderConfig(name=DEMO, wire="openai_responses", base_url="/openai/v1", profile="openai"),
    "compatible": ProviderConfig(name=DEMO, wire="openai_chat", base_url="/compatible/v1", profile="compatible"),
    "anthropic": ProviderConfig(name=DEMO, wire="anthropic_messages", base_url="/anthropic"),
    "bedrock": ProviderConfig(
        name=DEMO,
        wire="bedrock_converse",
        base_url="/bedrock",
        models=(("bedrock", _DEMO_CLAUDE),),
        wire_is_chosen=True,
    ),
    "bedrock-claude": ProviderConfig(
        name=DEMO, wire="bedrock_messages", base_url="/bedrock", models=(("bedrock-claude", _DEMO_CLAUDE),)
    ),
    "gemini": ProviderConfig(name=DEMO, wire="gemini", base_url="/gemini/v1beta"),
}
