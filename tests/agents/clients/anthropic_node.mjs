// Anthropic's SDK for Node, with its tool runner.
//
// name: anthropic for Node (tool runner)
// install: npm @anthropic-ai/sdk@1.14.0 zod@4.6.7
// ways: messages, messages-streamed
// picture: [demo call picture {}]
import Anthropic from "@anthropic-ai/sdk";
import { NOTE, NOTHING, PNG, ROOT, STREAMED, TURNS, broken, note } from "./tools.mjs";

const client = new Anthropic({ baseURL: ROOT, apiKey: "none", maxRetries: 1, timeout: 30_000 });
const picture = () => [{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }];
const tools = [
  [note, NOTE],
  [broken, NOTHING],
  [picture, NOTHING],
].map(([run, input_schema]) => ({
  name: run.name,
  description: `Does ${run.name}.`,
  input_schema,
  run: async (input) => run(input),
  parse: (input) => input,
}));

let messages = [];
for (const [model, content] of TURNS) {
  messages.push({ role: "user", content });
  const runner = client.beta.messages.toolRunner({ model, max_tokens: 2000, messages, tools, stream: STREAMED });
  if (STREAMED) for await (const stream of runner) for await (const _ of stream);
  const message = await runner.runUntilDone();
  messages = [...runner.params.messages];
  if (messages.at(-1).role !== "assistant") messages.push({ role: "assistant", content: message.content });
  console.log(message.content.map((block) => block.text ?? "").join(""));
}
