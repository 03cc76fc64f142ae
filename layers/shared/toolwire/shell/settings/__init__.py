"""The configuration document, read once and checked.

configuration    the whole of it, with the environment's variables
current          the settings of this process, read again where they may change
variables        variables of the environment that are settings by themselves
providers        the known hosts and the sections of providers
sections         how a section is read, and what is said of a wrong one
tenants          the section of a tenant
tenant_policy    its part on tools
resilience       the sections on attempts, fallbacks, limits and time
"""
