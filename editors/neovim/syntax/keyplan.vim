" Plans without a language server; with one, its semantic tokens are on top of this.
if exists("b:current_syntax")
  finish
endif
syntax keyword keyplanDeclaration plan import type names space module key hash zset set queue
syntax keyword keyplanClause scan by all in order accept allot retain newest per retired since rule member score field spread named refers to same as
syntax keyword keyplanType u8 u16 u24 u32 u64 u128 u256 i8 i16 i32 i64 i128 i256 bool f64 bytes text nibbles time option list cbor json proto raw
syntax match keyplanName "\<[A-Z][A-Za-z0-9]*\>"
syntax match keyplanEncoding "\.\h\w*"
syntax match keyplanNumber "\<\(0x[0-9a-fA-F_]\+\|[0-9][0-9_]*\)\>"
syntax region keyplanString start=+b\?"+ skip=+\\.+ end=+"+ oneline
syntax match keyplanComment "//.*$"
syntax match keyplanDoc "//[/!].*$"
syntax region keyplanComment start="/\*" end="\*/" contains=keyplanComment
highlight default link keyplanDeclaration Keyword
highlight default link keyplanClause Statement
highlight default link keyplanType Type
highlight default link keyplanName Type
highlight default link keyplanEncoding Function
highlight default link keyplanNumber Number
highlight default link keyplanString String
highlight default link keyplanComment Comment
highlight default link keyplanDoc SpecialComment
let b:current_syntax = "keyplan"
