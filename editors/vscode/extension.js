// Starts `rushlight lsp` for Python files, and shows graphs beside them.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;
const changed = new vscode.EventEmitter();

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

// A read-only page of its own scheme: an untitled file would ask to be saved when it is closed.
const graphs = {
  onDidChange: changed.event,
  provideTextDocumentContent(page) {
    const [uri, line] = JSON.parse(page.query);
    return vscode.commands.executeCommand("rushlight.graph", uri, line);
  },
};

async function showGraph(uri, line) {
  const file = vscode.Uri.parse(uri);
  const page = file.with({
    scheme: "rushlight-graph",
    path: `${file.path}:${line + 1}.graph`,
    query: JSON.stringify([uri, line]),
  });
  changed.fire(page);
  const document = await vscode.workspace.openTextDocument(page);
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
}

async function restart() {
  await client.stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    changed,
    vscode.workspace.registerTextDocumentContentProvider("rushlight-graph", graphs),
    vscode.commands.registerCommand("rushlight.showGraph", showGraph),
    vscode.commands.registerCommand("rushlight.restart", restart),
  );
  await start();
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, deactivate };
