"""Builds without setuptools, which newer virtual environments do not have."""
import os
import zipfile

METADATA = "Metadata-Version: 2.1\nName: up\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_editable(directory, config_settings=None, metadata_directory=None):
    name = "up-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("up.pth", os.getcwd() + "\n")
        wheel.writestr("up-1.0.dist-info/METADATA", METADATA)
        wheel.writestr("up-1.0.dist-info/WHEEL", WHEEL)
        wheel.writestr("up-1.0.dist-info/RECORD", "")
    return name


build_wheel = build_editable
