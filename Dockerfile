# One image for every process of the Procfile; docker-compose.yml says which one a container runs.
FROM python:3.13-slim AS packages
COPY requirements.lock /tmp/requirements.lock
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r /tmp/requirements.lock

FROM python:3.13-slim
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    FLASK_APP=cli.application:create_app
RUN useradd --system --uid 10001 --user-group --home-dir /app --shell /usr/sbin/nologin service
WORKDIR /app
COPY --from=packages /opt/venv /opt/venv
COPY pyproject.toml Procfile gunicorn.conf.py ./
COPY app ./app
COPY workers ./workers
COPY cli ./cli
# A checkout made under umask 077 has files that only their owner can read.
RUN chmod -R a+rX /app && install -d -o service -g service -m 0700 /app/.data
USER service
EXPOSE 8000
# For the API, which the image runs if nothing else is said; the other processes have their own in docker-compose.yml.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["sh", "-c", "exec gunicorn --bind ${WEB_BIND:-0.0.0.0:${PORT:-8000}} 'app.factory:create_app()'"]
