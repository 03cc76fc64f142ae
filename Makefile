# `make run` and `make test` do all the set-up themselves; `make help` lists the rest.
# Once installed, nothing here needs a network: each environment has a stamp file that is newer than its lock.

PYTHON3 ?= python3
PORT    ?= 8080
# The keys that `make key` makes for the local gateway, which asks for one as soon as this file is there.
KEYS_FILE ?= $(or $(XDG_STATE_HOME),$(HOME)/.local/state)/toolwire/keys.json
# From here on only the command line counts: a PYTHON or ARCH of the environment would mean something else.
HOST    =
CONFIG  =
WORKERS =
# What `make build` and `make deploy` build for: Lambda's Python and processor (arm64 or x86_64).
PYTHON  = 3.13
ARCH    = arm64
STACK   = toolwire
# More template parameters for `make deploy`: PARAMS="AlarmTopicArn=... LogRetentionDays=30"
PARAMS  =
# Tags of every resource: TAGS="team=agents env=prod"
TAGS    =
BUILD_DIR = .aws-sam/build
EVENTS    = $(patsubst %/event.json,%,$(wildcard events/*/event.json))

BIN     := .venv/bin
SAM_BIN := .venv-sam/bin
RUN     := PYTHONPATH=layers/shared $(BIN)/python
SAM     := SAM_CLI_TELEMETRY=0 $(SAM_BIN)/sam
PIP     := python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --no-compile
# A worker more than there are processors: the slow tests wait for builds, for servers, and for times that are over.
WORKERS_AND_ONE = PYTEST_XDIST_AUTO_NUM_WORKERS=$$(($$(getconf _NPROCESSORS_ONLN) + 1))
# Containers often forbid Python to keep bytecode. Then each run, worker and program of a test compiles everything anew.
PYTEST  := PYTHONDONTWRITEBYTECODE= $(RUN) -m pytest -n auto
# The operator's configuration goes into the layer, as /opt/toolwire.toml.
PACKED  := $(abspath $(wildcard toolwire.toml))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run providers doctor test integration agents check lint types format build deploy key secret destroy verify replay \
	conversation minimize scorecard conformance openapi mcp-schemas suites bench bench-peers scale profile lock clean python3 \
	buildable deployable config container mutants invoke start-api start-lambda engine-runs

help:  ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done
	@echo
	@echo "A clone needs no other data. TOOLWIRE_SHARED=DIR adds the tests and cases against reference data in DIR (CONTRIBUTING.md)."

run: .venv/run.stamp  ## serve the gateway (HOST=127.0.0.1 PORT=8080 CONFIG=toolwire.toml WORKERS=2 RECORD=recordings/ REDACT=1)
	@$(if $(RECORD),RECORD='$(RECORD)' )$(if $(REDACT),REDACT='$(REDACT)' )$(if $(wildcard $(KEYS_FILE)),KEYS_FILE='$(KEYS_FILE)' )$(RUN) -m local.server $(if $(HOST),--host $(HOST) )--port $(PORT) $(if $(CONFIG),--config $(CONFIG)) $(if $(WORKERS),--workers $(WORKERS))

providers: .venv/run.stamp  ## every provider: its address, and which variable has its key (CONFIG=toolwire.toml)
	@$(if $(CONFIG),TOOLWIRE_CONFIG='$(CONFIG)' )$(RUN) -m local.banner

# Named here, since `make -n` runs a line that names make itself.
TYPES := $(MAKE) --no-print-directory types

# mypy and import-linter use one processor for half a minute, so they run beside the tests, in the time in which the tests
# wait: `nice` gives the tests the processor first. What they say stands behind the tests' own report. Either fails the
# target, and an interrupted run leaves none of them behind.
test: lint  ## lint, types, import rules and every fast test; offline once installed
	@beside=$$(mktemp); nice -n 19 $(TYPES) >"$$beside" 2>&1 & types=$$!; \
	trap 'kill $$types 2>/dev/null; rm -f "$$beside"' EXIT; trap 'exit 130' INT TERM; \
	echo '$(PYTEST) -m "not integration" --dist worksteal'; \
	$(PYTEST) -m "not integration" --dist worksteal; tested=$$?; \
	wait $$types; typed=$$?; cat "$$beside"; \
	[ $$typed = 0 ] || echo "make test: the types or the import rules failed, see above" >&2; \
	[ $$tested = 0 ] || echo "make test: tests failed, see their report" >&2; \
	[ $$typed = 0 ] && exit $$tested

# hypothesis marks the properties itself: each is tried on 10 examples by `make test`, on 500 here.
integration: .venv/dev.stamp .venv-sam/stamp  ## the slow tests: builds, the Lambda emulator, every recording
	$(WORKERS_AND_ONE) $(PYTEST) -rs -m "integration or hypothesis" --dist loadfile --hypothesis-profile=thorough

# Not part of any test: npm and pip fetch each client the first time, some gigabytes in all.
AGENT_claude-talks = claude_code_talks
AGENT_codex-talks  = codex_talks
AGENT_both         = one_conversation
AGENT_long         = long_task
AGENT_settings     = settings
agents: .venv/dev.stamp  ## real clients in tool loops through the gateway; needs npm (AGENT=name|both|long|settings|...-talks LATEST=1)
	AGENT='$(AGENT)' LATEST='$(LATEST)' $(RUN) -m tests.agents.$(or $(AGENT_$(AGENT)),suite)

# Not part of any test: some seconds for each mutant.
mutants: .venv/dev.stamp  ## whether the tests of docs/reference-coverage.md can fail (ONLY=text CHANGED=1)
	@PYTHONPATH=layers/shared nice $(BIN)/python -m tests.mutations.run $(if $(ONLY),--only '$(ONLY)') $(if $(CHANGED),--changed)

check: lint types  ## lint, types and import rules only

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp
	$(BIN)/mypy
	PYTHONPATH=layers/shared $(BIN)/lint-imports --no-logo

format: .venv/dev.stamp  ## let ruff format and repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The layer's own Makefile runs in a copy of layers/shared, so what it needs from here is handed over in its environment.
# Functions are one file each and are packed as they are: bytecode left there by local runs would change their hash.
build: buildable .venv-sam/stamp  ## build for Lambda (PYTHON=3.13 ARCH=arm64 GOOGLE_KEYS=), with ./toolwire.toml if there is one
	rm -rf functions/*/__pycache__
	LAYER_PYTHON=$(PYTHON) LAYER_ARCH=$(ARCH) LAYER_CONFIG=$(PACKED) LAYER_PIP=$(abspath $(SAM_BIN)/python) \
	LAYER_GOOGLE_KEYS=$(GOOGLE_KEYS) \
		$(SAM) build --build-dir $(BUILD_DIR) --parameter-overrides Runtime=python$(PYTHON) Architecture=$(ARCH)
	@find $(BUILD_DIR)/SharedLayer -name '*.pyc' -print -quit | grep -q . || { \
		echo; echo "The layer has no bytecode, so a cold start takes half as long again. It needs a Python $(PYTHON) on this machine:"; \
		echo "python$(PYTHON) on the PATH, or one of pyenv (pyenv install $(PYTHON)) or uv (uv python install $(PYTHON)). Then build again."; } >&2
	@echo; echo "Built for Python $(PYTHON) on $(ARCH). Next, in the place of SAM's own commands: make deploy, or make invoke."

deploy: buildable deployable build  ## deploy what `make build` makes (STACK=toolwire PARAMS="AlarmTopicArn=...")
	@$(SAM) deploy --template-file $(BUILD_DIR)/template.yaml --stack-name $(STACK) --resolve-s3 \
		--capabilities CAPABILITY_IAM --no-fail-on-empty-changeset $(if $(TAGS),--tags $(TAGS)) --parameter-overrides \
		Runtime=python$(PYTHON) Architecture=$(ARCH) Release=$$(date +%s) $(if $(PACKED),ConfigSource=/opt/toolwire.toml) $(PARAMS)

# The local server for those who host it themselves: docs/container.md.
ENGINE = docker
IMAGE  = toolwire
BASE   =
container:  ## an image of the local server, for those who host it themselves (ENGINE=docker|podman IMAGE=toolwire BASE=)
	@command -v $(ENGINE) >/dev/null || { echo "There is no $(ENGINE) here. ENGINE= names another one that builds from a Dockerfile." >&2; exit 1; }
	$(ENGINE) build $(if $(BASE),--build-arg BASE='$(BASE)' )--tag '$(IMAGE)' .

# Lambda's own image runs what is built for this machine, whatever `make build` builds for. LAMBDA_IMAGE names another image,
# which must be on this machine.
LAMBDA_IMAGE =
LOCAL_ARCH   = $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
LOCAL_BUILD  = .aws-sam/local-$(PYTHON)$(if $(GOOGLE_KEYS),-google-keys)
SAM_LOCAL    = $(RUN) -m local.sam_local --build $(LOCAL_BUILD)$(if $(PACKED), --config '$(PACKED)')
LOCAL_OPTIONS = --parameter-overrides 'Runtime=python$(PYTHON) Architecture=$(LOCAL_ARCH) $(if $(PACKED),ConfigSource=/opt/toolwire.toml) $(PARAMS)' \
	$(if $(LAMBDA_IMAGE),--invoke-image '$(LAMBDA_IMAGE)' --skip-pull-image)
invoke: engine-runs .venv/dev.stamp .venv-sam/stamp $(LOCAL_BUILD)/template.yaml  ## run an event's function in Lambda's image, by sam local; needs Docker (EVENT=events/<name> PYTHON=3.13)
	@$(if $(EVENT),,$(error invoke needs EVENT=, one of: $(EVENTS)))$(SAM_LOCAL) --event '$(EVENT)' -- env $(SAM) local invoke $(LOCAL_OPTIONS)

start-api: engine-runs .venv/dev.stamp .venv-sam/stamp $(LOCAL_BUILD)/template.yaml  ## serve the functions in Lambda's image, whole answers only; needs Docker (PORT=8080)
	@$(SAM_LOCAL) -- env $(SAM) local start-api --port $(PORT) $(LOCAL_OPTIONS)

start-lambda: engine-runs .venv/dev.stamp .venv-sam/stamp $(LOCAL_BUILD)/template.yaml  ## the same for programs that invoke functions by AWS's API (PORT=8080)
	@$(SAM_LOCAL) -- env $(SAM) local start-lambda --port $(PORT) --warm-containers LAZY $(LOCAL_OPTIONS)

$(LOCAL_BUILD)/template.yaml: template.yaml $(PACKED) $(shell find layers -name __pycache__ -prune -o -type f -print)
	@mkdir -p $(@D)
	@$(MAKE) --no-print-directory build ARCH=$(LOCAL_ARCH) BUILD_DIR=$(@D) >$(@D).log 2>&1 || { cat $(@D).log >&2; exit 1; }

engine-runs:
	@$(ENGINE) info >/dev/null 2>&1 || { \
		echo "sam local needs a container engine, and \`$(ENGINE) info\` fails. make run and make replay need none." >&2; exit 1; }

# SAM builds for whatever it is told, and Lambda refuses it, or the function fails, at the end.
buildable:
	@case '$(ARCH)' in arm64|x86_64) ;; *) \
		echo "ARCH=$(ARCH): Lambda's processors are arm64 and x86_64." >&2; exit 1;; esac
	@case '$(PYTHON)' in 3.11|3.12|3.13|3.14) ;; *) \
		echo "PYTHON=$(PYTHON): the layer can be built for 3.11, 3.12, 3.13 and 3.14." >&2; exit 1;; esac

# Before the build, which takes a minute.
deployable: .venv/run.stamp
	@$(RUN) -m local.before_deploy --stack '$(STACK)' $(if $(PACKED),--packed) --params '$(PARAMS)'

config: .venv/run.stamp  ## show the configuration of a deployed stack, or fetch it into ./toolwire.toml (STACK=toolwire PULL=1)
	@$(RUN) -m local.deployed_config --stack '$(STACK)' $(if $(PULL),--to toolwire.toml)

# The local keys, unless the command line names a stack.
NAMED_STACK = $(if $(filter command,$(origin STACK)),--stack '$(STACK)')
ACTION =
key: .venv/run.stamp  ## keys of clients (ACTION=create|list|rotate|revoke TENANT=acme KEY=tw_... SETTINGS=acme.toml DAYS= GRACE= STACK=)
	@$(RUN) -m local.key_admin $(or $(ACTION),create) $(or $(NAMED_STACK),--file '$(KEYS_FILE)') $(if $(TENANT),--tenant '$(TENANT)') \
		$(if $(KEY),--key '$(KEY)') $(if $(SETTINGS),--settings '$(SETTINGS)') $(if $(DAYS),--days $(DAYS)) $(if $(GRACE),--grace $(GRACE))

secret: .venv/run.stamp  ## a provider's key, read from standard input, into the Secrets Manager (PROVIDER=openai STACK=toolwire)
	@$(if $(PROVIDER),,$(error secret needs PROVIDER=, e.g. PROVIDER=openai))$(RUN) -m local.secret_admin '$(PROVIDER)' --stack '$(STACK)'

destroy: .venv/run.stamp .venv-sam/stamp  ## delete a deployed stack; its keys stay unless KEYS=delete (STACK=toolwire)
	@$(RUN) -m local.destroy --stack '$(STACK)' $(if $(filter delete,$(KEYS)),--delete-keys )-- env $(SAM) delete --stack-name '$(STACK)'

verify: .venv/run.stamp  ## check a deployment, or the local server (URL=http://127.0.0.1:8080/v1 KEY=... SLOW=1)
	@$(if $(URL),,$(error verify needs URL=, e.g. URL=http://127.0.0.1:$(PORT)/v1))$(if $(KEY),TOOLWIRE_KEY='$(KEY)' )$(RUN) -m local.verify $(if $(SLOW),--slow )$(URL)

replay: .venv/run.stamp  ## replay a recorded exchange, side by side (EVENT=events/<name> UPDATE=1 MODEL=other/one CONFIG=)
	@$(if $(EVENT),,$(error replay needs EVENT=, one of: $(EVENTS)))$(if $(CONFIG),TOOLWIRE_CONFIG='$(CONFIG)' )$(RUN) -m local.replay '$(EVENT)'$(if $(UPDATE), --update)$(if $(MODEL), --model '$(MODEL)')

scorecard: .venv/run.stamp  ## how fit each model's tool calls were in recorded exchanges (RECORDINGS=recordings/)
	@$(RUN) -m local.scorecard '$(or $(RECORDINGS),recordings)'

doctor: .venv/run.stamp  ## what keeps the gateway on this machine from working, and the fix (PORT=8080 CONFIG= YES=1)
	@$(if $(wildcard $(KEYS_FILE)),KEYS_FILE='$(KEYS_FILE)' )$(if $(CONFIG),TOOLWIRE_CONFIG='$(CONFIG)' )$(RUN) -m local.doctor --port $(PORT)$(if $(YES), --yes)

conversation: .venv/run.stamp  ## what is kept of a conversation, or have it forgotten (ID=trip-1 TENANT=default ACTION=delete STACK=)
	@$(if $(ID),,$(error conversation needs ID=, as x-conversation-id says it))$(RUN) -m local.conversation '$(ID)' --port $(PORT) \
		$(if $(TENANT),--tenant '$(TENANT)') $(if $(ACTION),--action '$(ACTION)') $(NAMED_STACK)

minimize: .venv/run.stamp  ## make a failing event folder small (EVENT=recordings/<request id> CHECK='command {}' OUT=folder)
	@$(if $(EVENT),,$(error minimize needs EVENT=, a folder of recordings))$(RUN) -m local.minimize '$(EVENT)' \
		$(if $(CHECK),--check '$(CHECK)') $(if $(OUT),--out '$(OUT)')

conformance: .venv/dev.stamp  ## write docs/conformance.md and the README's table from the test matrix
	$(RUN) -m tests.matrix.page

suites: .venv/dev.stamp  ## what suites of others say of the gateway: docs/scorecards.md; needs npm and pip (SCHEMAS=folder)
	$(RUN) -m tests.scorecards $(if $(SCHEMAS),--schemas '$(SCHEMAS)')

mcp-schemas: .venv/dev.stamp  ## hold the tools of public MCP servers against every provider: docs/mcp-schemas.md (CAPTURES=folder)
	$(RUN) -m tests.mcp_servers $(if $(CAPTURES),--captures '$(CAPTURES)')

openapi: .venv/run.stamp  ## write docs/openapi.json, the native API's OpenAPI document, from its models
	$(RUN) -m local.openapi

bench: .venv/dev.stamp  ## measure against a direct connection: docs/performance.md (RUNS=5)
	$(RUN) -m bench $(if $(RUNS),--runs $(RUNS))

bench-peers: .venv/dev.stamp  ## measure other gateways beside this one: docs/benchmarks.md; needs npm and a network (RUNS=5)
	$(RUN) -m bench.beside $(if $(RUNS),--runs $(RUNS))

scale: .venv/run.stamp  ## concurrency and cost at 10, 1,000 and 100,000 streams at once: docs/scaling.md (SECONDS=30 MEMORY=1024 DOORS=1 TIMES=)
	@$(RUN) -m bench.scale $(if $(TIMES),--times '$(TIMES)') $(if $(SECONDS),--seconds $(SECONDS)) $(if $(MEMORY),--memory $(MEMORY)) $(if $(DOORS),--functions $(DOORS))

profile: .venv/dev.stamp  ## where the CPU time of a JSON answer and of a stream goes, by room
	$(RUN) -m bench.rooms

# Everything is locked together first, so that what is tested is what runs and what is deployed.
lock: .venv/dev.stamp  ## bring the locks up to date with pyproject.toml
	$(BIN)/python -m pip install --quiet 'uv==0.13.9'
	$(LOCK) pyproject.toml --group lambda --group local --group dev --output-file requirements/dev.txt
	$(LOCK) pyproject.toml --group local --constraints requirements/dev.txt --output-file requirements/run.txt
	$(LOCK) pyproject.toml --group lambda --constraints requirements/dev.txt --output-file layers/shared/requirements.txt
	sed -i "s/ ; python_full_version < '3.14'//" layers/shared/requirements.txt # which Python it is for, its Makefile knows
	$(LOCK) --group google-keys --constraints requirements/dev.txt --no-emit-package pycparser \
		--output-file layers/shared/requirements-google-keys.txt
	sed -i 's/ ; platform_python_implementation[^\\]*/ /' layers/shared/requirements-google-keys.txt
	$(LOCK) --group sam --output-file requirements/sam.txt
LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --custom-compile-command 'make lock'

clean:  ## remove environments, caches and builds
	rm -rf .venv .venv-sam .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments -------------------------------------------------------------------------------------------------------

python3:
	@command -v $(PYTHON3) >/dev/null || { \
		echo "toolwire needs Python 3.11 or newer, and there is no $(PYTHON3). On Debian: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON3) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "toolwire needs Python 3.11 or newer; $(PYTHON3) is $$($(PYTHON3) -V). Name another: make PYTHON3=python3.13 ..." >&2; exit 1; }
	@$(PYTHON3) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON3) has no venv module. On Debian: apt-get install python3-venv" >&2; exit 1; }

.venv/bin/python .venv-sam/bin/python: | python3
	$(PYTHON3) -m venv $(@D:/bin=)

.venv/run.stamp: requirements/run.txt | .venv/bin/python
	$(BIN)/$(PIP) -r $<
	@touch $@

# The development lock holds the other one.
# One process compiles the packages and the tests: in the first `make test` each worker would, for itself.
.venv/dev.stamp: requirements/dev.txt | .venv/bin/python
	$(BIN)/$(PIP) -r $<
	PYTHONDONTWRITEBYTECODE= $(RUN) -m pytest --collect-only >/dev/null 2>&1 || true
	@touch .venv/run.stamp $@

.venv-sam/stamp: requirements/sam.txt | .venv-sam/bin/python
	$(SAM_BIN)/$(PIP) -r $<
	@touch $@
