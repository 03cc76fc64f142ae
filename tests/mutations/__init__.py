"""Mutants of the behaviour that docs/reference-coverage.md claims: `make mutants` shows that its tests can fail.

run         the script: applies one mutant after the other to a copy of the tree and runs the row's tests
mutant      what a mutant is, and which of the page's tests are its own
sentinel    mutants of the rows from Sentinel's documents
cline       mutants of the rows from Cline's data model
two_api     mutants of the rows from 2api's specification on the loop, limits, allowlist, validation and rates
two_api_forms  those on definitions, calls, results and capabilities
responses   mutants of the rows from the document of the Responses proxy
"""
