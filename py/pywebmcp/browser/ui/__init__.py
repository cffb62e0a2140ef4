"""The person's side of the page: the Agent panel, and what is shown at cells.

What is on the page is data first (`elements`), made from state by functions that CPython's tests
call as well; only `view` and the modules that talk with JupyterLab touch the page.
"""
