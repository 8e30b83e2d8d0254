"""Settings of Sphinx for the site (`make docs`)."""

project = "gpu_envs"
html_title = "gpu_envs"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_static_path: list[str] = []
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# Outside links have a command of their own, `make links`.
linkcheck_timeout = 20
linkcheck_retries = 2
