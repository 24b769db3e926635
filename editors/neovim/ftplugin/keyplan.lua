-- Starts `keyplan lsp` for plans. Needs Neovim 0.10 or later.
vim.bo.commentstring = "// %s"
vim.bo.expandtab = true
vim.bo.shiftwidth = 4

local marks = { "keyplan.toml", ".git" }
local root = vim.fs.root(0, marks)
vim.lsp.start({
  name = "keyplan",
  cmd = { vim.g.keyplan_path or "keyplan", "lsp" },
  root_dir = root,
  on_attach = function(client, buffer)
    if client.supports_method("textDocument/inlayHint") then
      vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
    end
  end,
})
