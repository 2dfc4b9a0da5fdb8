from __future__ import annotations

from apiflask import APIFlask

from app.domain.lists.headers.column_mapping import Entity
from app.features.imports import queued_imports
from app.features.imports.import_folder import FoundFile
from app.features.imports.queued_imports import QueuedOptions
from app.features.imports.tables import QueuedImport
from app.infra import clock


def test_metrics_show_queued_imports_and_what_is_left_of_them(app: APIFlask) -> None:
    with app.extensions["services"].database.transaction() as session:
        for name in ("people.csv", "more.csv"):
            file, options = FoundFile(name, 1000, 1), QueuedOptions(source=name)
            import_id = queued_imports.add(session, file, Entity.CONTACTS, options, now=clock.now())
            session.get_one(QueuedImport, import_id).bytes_done = 400

    metrics = app.test_client().get("/metrics").text.splitlines()

    assert {'ext_imports{status="waiting"} 2.0', 'ext_imports{status="running"} 0.0'} <= set(metrics)
    assert {"ext_import_bytes_left 1200.0", 'ext_given_up{kind="import"} 0.0'} <= set(metrics)
