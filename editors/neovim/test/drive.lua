-- Opens a plan as a person would, and writes down what the editor shows. PLAN, OUT and KEYPLAN say which plan, where to and
-- which command.
vim.g.keyplan_path = vim.env.KEYPLAN
vim.cmd("filetype plugin on")
local seen = {}
local function wait_for(what, test)
  if not vim.wait(60000, test, 50) then
    seen.failed = what
    vim.fn.writefile({ vim.json.encode(seen) }, vim.env.OUT)
    vim.cmd("cquit")
  end
end

vim.cmd.edit(vim.env.PLAN)
local buffer = vim.api.nvim_get_current_buf()
seen.filetype = vim.bo[buffer].filetype
wait_for("a client", function() return #vim.lsp.get_clients({ bufnr = buffer }) == 1 end)
wait_for("a finding", function() return #vim.diagnostic.get(buffer) > 0 end)
local finding = vim.diagnostic.get(buffer)[1]
seen.finding = { code = finding.code, line = finding.lnum, column = finding.col, message = finding.message }

local function request(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000) or {}
  for _, answer in pairs(answers) do
    return answer.result
  end
end

vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
local here = vim.lsp.util.make_position_params()
seen.hover = request("textDocument/hover", here).contents.value
wait_for("hints", function() return #vim.lsp.inlay_hint.get({ bufnr = buffer }) > 0 end)
seen.hints = {}
for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
  table.insert(seen.hints, hint.inlay_hint.label)
end

vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.isPreferred end })
wait_for("the repair", function() return #vim.diagnostic.get(buffer) == 0 end)
seen.text = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
vim.fn.writefile({ vim.json.encode(seen) }, vim.env.OUT)
vim.cmd("qall!")
