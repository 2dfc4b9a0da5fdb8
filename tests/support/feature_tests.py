"""What the tests of features add to tests that go through everything, such as all routes.

Such a test loads the module with a fixed name from the tests of each feature, as a process loads the parts of
features (`app.feature_registry`), so that a feature is deleted with what those tests know of it.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from app.feature_registry import FEATURES

FOLDER = Path(__file__).parents[1] / "features"


def parts(name: str) -> list[ModuleType]:
    """Return the module of this name of each feature whose tests have one."""
    paths = ((feature, FOLDER / feature / f"{name}.py") for feature in FEATURES)
    return [_module(f"{feature}_{name}", path) for feature, path in paths if path.exists()]


def _module(name: str, path: Path) -> ModuleType:
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
