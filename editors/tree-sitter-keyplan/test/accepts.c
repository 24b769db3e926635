// Says of each file that is named whether the grammar accepts it: a line with `1` or `0`.
#include <stdio.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_keyplan(void);

int main(int count, char **names) {
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, tree_sitter_keyplan())) return 2;
  for (int index = 1; index < count; index++) {
    FILE *file = fopen(names[index], "rb");
    if (!file) return 3;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = malloc((size_t)length + 1);
    if (fread(text, 1, (size_t)length, file) != (size_t)length) return 4;
    fclose(file);
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)length);
    puts(ts_node_has_error(ts_tree_root_node(tree)) ? "0" : "1");
    ts_tree_delete(tree);
    free(text);
  }
  ts_parser_delete(parser);
  return 0;
}
