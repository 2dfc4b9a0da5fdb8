"""Every system and floor that is measured, in the order of the report."""

from __future__ import annotations

from benchmarks.comparison.systems.alternative import Alternative
from benchmarks.comparison.systems.fastapi_saq_duties import schema
from benchmarks.comparison.systems.product import Product
from benchmarks.comparison.systems.system import Role, System, Workload

SYSTEMS_PACKAGE = "benchmarks.comparison.systems"
FLOORS_PACKAGE = "benchmarks.comparison.floors"
PROCESSES = 2  # of each web server and worker: as many as the product's web server has on two cores

# -c /dev/null: otherwise gunicorn reads the product's gunicorn.conf.py
GUNICORN = f"gunicorn -c /dev/null -k gthread --threads 16 -w {PROCESSES} -b 127.0.0.1:{{port}}"
GUNICORN_GEVENT = f"gunicorn -c /dev/null -k gevent -w {PROCESSES} -b 127.0.0.1:{{port}}"
UVICORN = f"uvicorn --workers {PROCESSES} --port {{port}} --log-level warning --no-access-log"
CELERY = "celery -q -A {app}:celery worker -P threads -c 10 -l error --without-gossip --without-mingle"
TASKIQ = f"taskiq worker {SYSTEMS_PACKAGE}.fastapi_taskiq:broker --workers {PROCESSES} --log-level WARNING"

SYSTEMS: tuple[System, ...] = (
    Product(),
    Alternative(
        "fastapi-taskiq",
        "FastAPI + taskiq",
        web=f"{UVICORN} {SYSTEMS_PACKAGE}.fastapi_taskiq:app",
        workers=(TASKIQ,),
        redis_database=1,
    ),
    Alternative(
        "fastapi-saq",
        "FastAPI + SAQ",
        web=f"{UVICORN} {SYSTEMS_PACKAGE}.fastapi_saq:app",
        workers=(f"saq {SYSTEMS_PACKAGE}.fastapi_saq.worker --workers {PROCESSES} --quiet",),
        redis_database=2,
    ),
    Alternative(
        "fastapi-saq-duties",
        "FastAPI + SAQ with the duties",
        web=f"{UVICORN} {SYSTEMS_PACKAGE}.fastapi_saq_duties.web:app",
        workers=(f"saq {SYSTEMS_PACKAGE}.fastapi_saq_duties.worker.settings --workers {PROCESSES} --quiet",),
        fill=schema.fill,
        redis_database=8,
    ),
    Alternative(
        "fastapi-pgqueuer",
        "FastAPI + PgQueuer, without Redis",
        web=f"{UVICORN} {SYSTEMS_PACKAGE}.fastapi_pgqueuer:app",
        workers=(f"{SYSTEMS_PACKAGE}.pgqueuer_worker",) * PROCESSES,
        setup="pgqueuer install",
    ),
    Alternative(
        "flask-rq",
        "Flask + RQ",
        web=f"{GUNICORN} {SYSTEMS_PACKAGE}.flask_rq:app",
        workers=(f"{SYSTEMS_PACKAGE}.rq_worker",) * PROCESSES,
        redis_database=3,
    ),
    Alternative(
        "flask-celery",
        "Flask + Celery with get()",
        web=f"{GUNICORN} {SYSTEMS_PACKAGE}.flask_celery:app",
        workers=(CELERY.format(app=f"{SYSTEMS_PACKAGE}.flask_celery"),),
        redis_database=4,
    ),
    Alternative(
        "bare-flask",
        "floor: bare Flask route",
        web=f"{GUNICORN} {FLOORS_PACKAGE}.bare_flask:app",
        role=Role.FLOOR,
        workloads=(Workload.LOOKUP,),
    ),
    Alternative(
        "bare-design",
        "floor: this design, the alternatives' SQL",
        web=f"{GUNICORN_GEVENT} {FLOORS_PACKAGE}.bare_design:app",
        workers=(CELERY.format(app=f"{FLOORS_PACKAGE}.bare_design"),),
        role=Role.FLOOR,
        redis_database=7,
    ),
    Alternative(
        "celery-round-trip",
        "floor: bare Celery round trip",
        workers=(CELERY.format(app=f"{FLOORS_PACKAGE}.celery_round_trip"),),
        role=Role.FLOOR,
        workloads=(Workload.ROUND_TRIP,),
        driver=f"{FLOORS_PACKAGE}.celery_round_trip",
        max_callers=1,
        redis_database=5,
    ),
    Alternative(
        "redis-ping-pong",
        "floor: raw Redis LPUSH/BRPOP",
        workers=(f"{FLOORS_PACKAGE}.redis_ping_pong echo",),
        role=Role.FLOOR,
        workloads=(Workload.ROUND_TRIP,),
        driver=f"{FLOORS_PACKAGE}.redis_ping_pong",
        max_callers=1,
        redis_database=6,
    ),
    Alternative(
        "sql-alone",
        "floor: the SQL of a reveal alone",
        role=Role.FLOOR,
        workloads=(Workload.REVEAL,),
        driver=f"{FLOORS_PACKAGE}.sql_alone",
        max_callers=1,
    ),
)
