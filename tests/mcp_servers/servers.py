"""Public MCP servers, and how each is started. None does anything here but name its tools, so keys are made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Server:
    """A package with an MCP server on standard input and output."""

    kind: Literal["npm", "pypi"]
    package: str
    #: The command it installs; None: the package's only one, or the one that has its name.
    command: str | None = None
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def _npm(package: str, *arguments: str, command: str | None = None, **environment: str) -> Server:
    return Server("npm", package, command, arguments, environment)


def _pypi(package: str, *arguments: str, command: str | None = None, **environment: str) -> Server:
    return Server("pypi", package, command, arguments, environment)


_DATABASE = "postgresql://u:p@127.0.0.1:9/d"

SERVERS = (
    _npm("@modelcontextprotocol/server-everything"),
    _npm("@modelcontextprotocol/server-filesystem", "/tmp"),
    _npm("@modelcontextprotocol/server-memory"),
    _npm("@modelcontextprotocol/server-sequential-thinking"),
    _npm("@modelcontextprotocol/server-github", GITHUB_PERSONAL_ACCESS_TOKEN="x"),
    _npm("@modelcontextprotocol/server-gitlab", GITLAB_PERSONAL_ACCESS_TOKEN="x"),
    _npm("@modelcontextprotocol/server-slack", SLACK_BOT_TOKEN="xoxb-1", SLACK_TEAM_ID="T1"),
    _npm("@modelcontextprotocol/server-google-maps", GOOGLE_MAPS_API_KEY="x"),
    _npm("@modelcontextprotocol/server-brave-search", BRAVE_API_KEY="x"),
    _npm("@modelcontextprotocol/server-postgres", _DATABASE),
    _npm("@modelcontextprotocol/server-everart", EVERART_API_KEY="x"),
    _npm("@notionhq/notion-mcp-server", NOTION_TOKEN="ntn_x"),
    _npm("@upstash/context7-mcp"),
    _npm("@playwright/mcp", PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD="1"),
    _npm("@supabase/mcp-server-supabase", "--access-token", "sbp_" + "0" * 40),
    _npm("@sentry/mcp-server", "--access-token", "x"),
    _npm("@stripe/mcp", "--api-key", "sk_test_x", "--tools", "all"),
    _npm("firecrawl-mcp", FIRECRAWL_API_KEY="fc-x"),
    _npm("exa-mcp-server", EXA_API_KEY="x"),
    _npm("tavily-mcp", TAVILY_API_KEY="tvly-x"),
    _npm("figma-developer-mcp", "--stdio", "--figma-api-key", "x"),
    _npm("@hubspot/mcp-server", PRIVATE_APP_ACCESS_TOKEN="pat-x"),
    _npm("mongodb-mcp-server", MDB_MCP_TELEMETRY="disabled"),
    _npm("@elastic/mcp-server-elasticsearch", ES_URL="http://127.0.0.1:9", ES_API_KEY="x"),
    _npm("@benborla29/mcp-server-mysql", MYSQL_HOST="127.0.0.1", MYSQL_PORT="9"),
    _npm("mcp-server-kubernetes"),
    _npm("chrome-devtools-mcp"),
    _npm("@wonderwhy-er/desktop-commander"),
    _npm("airtable-mcp-server", AIRTABLE_API_KEY="pat.x"),
    _npm("@apify/actors-mcp-server", command="actors-mcp-server", APIFY_TOKEN="x"),
    _npm("n8n-mcp", MCP_MODE="stdio", LOG_LEVEL="error", DISABLE_CONSOLE_OUTPUT="true"),
    _npm("@circleci/mcp-server-circleci", CIRCLECI_TOKEN="x"),
    _npm("@zereight/mcp-gitlab", GITLAB_PERSONAL_ACCESS_TOKEN="x"),
    _npm("@antv/mcp-server-chart"),
    _npm("@shopify/dev-mcp"),
    _npm("@pinecone-database/mcp", PINECONE_API_KEY="x"),
    _npm("task-master-ai", command="task-master-mcp"),
    _npm("@mapbox/mcp-server", MAPBOX_ACCESS_TOKEN="pk.e30.x"),
    _npm("@executeautomation/playwright-mcp-server"),
    _npm("@azure-devops/mcp", "toolwire"),
    _npm("@heroku/mcp-server", command="heroku-mcp-server", HEROKU_API_KEY="x"),
    _pypi("mcp-server-fetch"),
    _pypi("mcp-server-git"),
    _pypi("mcp-server-time"),
    _pypi("mcp-server-sqlite"),
    _pypi("mcp-atlassian", JIRA_URL="https://x.example", JIRA_PERSONAL_TOKEN="x",
          CONFLUENCE_URL="https://x.example", CONFLUENCE_PERSONAL_TOKEN="x"),
    _pypi("mcp-obsidian", OBSIDIAN_API_KEY="x"),
    _pypi("duckduckgo-mcp-server"),
    _pypi("arxiv-mcp-server"),
    _pypi("excel-mcp-server", "stdio"),
    _pypi("office-word-mcp-server", command="word_mcp_server"),
    _pypi("awslabs.aws-documentation-mcp-server"),
    _pypi("awslabs.dynamodb-mcp-server"),
    _pypi("blender-mcp"),
    _pypi("postgres-mcp", _DATABASE),
)  # fmt: skip
