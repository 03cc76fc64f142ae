# The local server for those who host it themselves: docs/container.md. The same handlers as on Lambda.
# Another image to stand on, with Python 3.11 or newer and its venv module: --build-arg BASE=...
ARG BASE=python:3.13-slim
FROM ${BASE} AS packages
COPY requirements/run.txt /run.txt
RUN python -m venv /opt/venv \
    && /opt/venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes --no-deps -r /run.txt

FROM ${BASE}
COPY --from=packages /opt/venv /opt/venv
COPY layers/shared/toolwire /srv/layers/shared/toolwire
COPY functions /srv/functions
COPY local /srv/local
# Nothing may be written at run time, so bytecode is made here.
RUN /opt/venv/bin/python -m compileall -q /srv
# Who reaches a container's port is not known, so it asks for a key until it is told otherwise (REQUIRE_KEY=0).
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/srv/layers/shared \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    REQUIRE_KEY=1 \
    INSPECT=0
WORKDIR /srv
# A number, as Kubernetes' runAsNonRoot wants.
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/v1/health', timeout=4)"]
# Exec form: SIGTERM reaches the server, which lets requests end for eight seconds. Arguments of `docker run` come after
# these: --workers 4.
ENTRYPOINT ["python", "-m", "local.server", "--host", "0.0.0.0", "--port", "8080"]
