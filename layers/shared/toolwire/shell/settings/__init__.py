"""The configuration document, read once and checked.

configuration    the whole document, with the environment's variables
current          the settings of this process, read again where they may change
variables        variables of the environment that are settings by themselves
providers        the known hosts and the sections of providers
sections         reads a section, and explains what is wrong in it
tenants          the section of a tenant
tenant_policy    the part of it about tools
resilience       the sections on attempts, fallbacks, limits and time
"""
