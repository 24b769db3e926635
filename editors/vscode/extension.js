// Starts `keyplan lsp` for plans and stops it with the window.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const command = workspace.getConfiguration("keyplan").get("path", "keyplan");
  const server = { command, args: ["lsp"] };
  const options = { documentSelector: [{ language: "keyplan" }] };
  client = new LanguageClient("keyplan", "Keyplan", server, options);
  await client.start();
};

exports.deactivate = () => client?.stop();
