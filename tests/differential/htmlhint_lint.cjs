// Lint pages with HTMLHint, many in one process.
// argv: folder whose node_modules holds htmlhint. stdin: one JSON object a line, the first
// {"rulesets": {card: {rule: true}}}, then {"html": "…"}. stdout: per page {card: [[rule, line, column], …]}.
const { createRequire } = require("node:module");
const path = require("node:path");
const readline = require("node:readline");

const { HTMLHint } = createRequire(path.join(process.argv[2], "x.js"))("htmlhint");
const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity });
let rulesets = null;

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (rulesets === null) {
    rulesets = message.rulesets;
    return;
  }
  const found = {};
  for (const [card, rules] of Object.entries(rulesets)) {
    const messages = HTMLHint.verify(message.html, { ...rules });
    found[card] = messages.map((m) => [m.rule.id, m.line, m.col]);
  }
  process.stdout.write(JSON.stringify(found) + "\n");
});
