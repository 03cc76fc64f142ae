"""JSON Schema for tools: checks of a client's schema, and its conversion to what each provider takes.

check             whether a tool's parameters are a schema that can be used, and why not
explain           every fault of a value under a schema
repair            mends schemas that break the rules of JSON Schema in known ways
dialects          what each provider takes, as data, and the conversion to it
convert           to the keywords of one provider, without loss
lossy             removes what cannot be converted, unless `schema_mode` is `reject`
essential         reduces a schema to what every host takes
flatten           a root that is a combination (`anyOf`, ...), as an object
merge             two schemas that both apply, as one
strict            the rules of strict schemas
answer_schema     the schema of a structured answer
property_names    replaces names of parameters that a provider refuses
tree              a schema as a tree, its numbers as they were written
memory            what was found about a schema, by the hash of its text, within a bound
survey            how large a schema is once its references are followed
"""
