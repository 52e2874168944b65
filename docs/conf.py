"""Sphinx configuration. Build with ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import zfree

project = "zfree"
author = "The zfree developers"
copyright = "The zfree developers"
version = release = zfree.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.zip", "reproduction/*.md"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions, which Sphinx cannot cache

# Markdown
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# API reference
autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"  # the docstrings say what each argument is
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def _skip_field_aliases(app, what, name, obj, skip, options):
    """Fields of named tuples document themselves as "Alias for field number k"; the class says what they are."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-skip-member", _skip_field_aliases)


# Example gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "doc_module": ("zfree",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "remove_config_comments": True,
}

# HTML
html_theme = "furo"
html_title = "zfree"
html_static_path = ["_static"]
html_css_files = ["zfree.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
