// Starts `rushlight lsp` for Python files, and shows graphs beside them.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const python = vscode.workspace.getConfiguration("rushlight").get("python", "python3");
  client = new LanguageClient(
    "rushlight",
    "rushlight",
    { command: python, args: ["-m", "rushlight", "lsp"] },
    { documentSelector: [{ scheme: "file", language: "python" }] },
  );
  return client.start();
}

async function showGraph(uri, line) {
  const content = await vscode.commands.executeCommand("rushlight.graph", uri, line);
  const document = await vscode.workspace.openTextDocument({ content });
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
}

async function restart() {
  await client.stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("rushlight.showGraph", showGraph),
    vscode.commands.registerCommand("rushlight.restart", restart),
  );
  await start();
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, deactivate };
