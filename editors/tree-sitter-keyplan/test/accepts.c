// Says of each text on standard input whether the grammar accepts it: a line with `1` or `0`. A text comes after a line with the number of its bytes.
#include <stdio.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_keyplan(void);

int main(void) {
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, tree_sitter_keyplan())) return 2;
  unsigned length;
  while (scanf("%u", &length) == 1) {
    if (getchar() != '\n') return 3;
    char *text = malloc((size_t)length + 1);
    if (!text || fread(text, 1, length, stdin) != length) return 4;
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
    puts(ts_node_has_error(ts_tree_root_node(tree)) ? "0" : "1");
    ts_tree_delete(tree);
    free(text);
  }
  ts_parser_delete(parser);
  return 0;
}
