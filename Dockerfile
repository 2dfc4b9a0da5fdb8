# One image for all processes of the Procfile; docker-compose.yml chooses the process of each container.
FROM python:3.13-slim AS packages
COPY requirements.lock /tmp/requirements.lock
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r /tmp/requirements.lock

# The manual, which the app serves at /manual/.
FROM python:3.13-slim AS manual
COPY --from=packages /opt/venv /opt/venv
WORKDIR /src
COPY README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md ./
COPY docs ./docs
COPY tools ./tools
COPY extension/README.md ./extension/
COPY extension/store/privacy_policy.md ./extension/store/
COPY clients/python/README.md ./clients/python/
COPY clients/typescript/README.md ./clients/typescript/
RUN /opt/venv/bin/python -m tools.manual

FROM python:3.13-slim
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    FLASK_APP=cli.application:create_app
# pg_dump and pg_restore of the version of the server in docker-compose.yml, for `flask backup`.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --user-group --home-dir /app --shell /usr/sbin/nologin service
WORKDIR /app
COPY --from=packages /opt/venv /opt/venv
COPY pyproject.toml Procfile gunicorn.conf.py ./
COPY app ./app
COPY workers ./workers
COPY cli ./cli
COPY --from=manual /src/app/manual ./app/manual
# The files of a checkout made with umask 077 are readable by their owner only.
RUN chmod -R a+rX /app && install -d -o service -g service -m 0700 /app/.data /app/.data/spool
USER service
EXPOSE 8000
# For the API, the default command; the other processes have their own health checks in docker-compose.yml.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["sh", "-c", "exec gunicorn --bind ${WEB_BIND:-0.0.0.0:${PORT:-8000}} 'app.factory:create_app()'"]
