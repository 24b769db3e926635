["plan" "import" "type" "names" "space" "module" "key" "hash" "zset" "set" "queue" "drop" "rule" "types"] @keyword
["scan" "by" "all" "in" "order" "accept" "allot" "allow" "break" "from" "retain" "newest" "per" "retired" "since" "member" "score" "field" "spread" "named" "refers" "same" "as"] @keyword
(plan name: (identifier) @namespace)
(space name: (identifier) @namespace)
(module name: (identifier) @namespace)
(type name: (identifier) @type)
(names name: (identifier) @type)
(family name: (identifier) @function)
(field name: (identifier) @property)
(argument name: (identifier) @variable.parameter)
(call name: (identifier) @type)
(encoding name: (identifier) @function.builtin)
(hash) @function.builtin
[(string) (bytes)] @string
[(hex) (int)] @number
[(comment) (block_comment)] @comment
[(doc) (file_doc)] @comment.documentation
