vim.filetype.add({ extension = { keyplan = "keyplan" } })
