"""The paper's table, measured: its three problems over grids of people, queries, values and epsilon.

One function a row measures one case; grids say which cases; checks say what was expected of them; pictures and the
page only show what was found.
"""
