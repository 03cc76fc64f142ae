// OpenAI's SDK for Node, with its tool runner.
//
// name: openai for Node (tool runner)
// install: npm openai@7.59.0
// ways: chat, chat-streamed
import OpenAI from "openai";
import { BASE, NOTE, NOTHING, STREAMED, TURNS, broken, note } from "./tools.mjs";

const client = new OpenAI({ baseURL: BASE, apiKey: "none", maxRetries: 1, timeout: 30_000 });
const tools = [
  [note, NOTE],
  [fails, NOTHING],
].map(([run, parameters]) => ({
  type: "function",
  function: { function: run, parse: JSON.parse, name: run === fails ? "broken" : run.name, description: `Does ${run.name}.`, parameters },
}));

// A function that throws ends the runner: it is the client's to put a failure into words.
function fails() {
  try {
    return broken();
  } catch (error) {
    return String(error);
  }
}

let messages = [];
for (const [model, content] of TURNS) {
  messages.push({ role: "user", content });
  const runner = client.chat.completions.runTools({ model, messages, tools, stream: STREAMED });
  console.log(await runner.finalContent());
  messages = runner.messages;
}
