// Holds the conversations that it gets on stdin, with the official anthropic Node SDK, and prints what it saw as JSON.
//
// in:  {base, model, way, tools, talks: [{prompts, result}]}
// out: [[{calls: [{id, name, arguments}], finish, text, last_finish}, ...], ...]   a list of turns for each talk
//
// With a prompt as `runner` the SDK's own tool runner holds one conversation: {cities, finishes, text}.

import { text } from "node:stream/consumers";

import Anthropic from "@anthropic-ai/sdk";

const { base, model, way, tools, talks, runner } = JSON.parse(await text(process.stdin));
const client = new Anthropic({ apiKey: "none", baseURL: base, maxRetries: 0 });

async function ask(messages) {
  const request = { model, max_tokens: 1000, tools, messages };
  return way === "whole" ? client.messages.create(request) : client.messages.stream(request).finalMessage();
}

async function hold({ prompts, result }) {
  const messages = [];
  const turns = [];
  for (const prompt of prompts) {
    messages.push({ role: "user", content: prompt });
    const asked = await ask(messages);
    const calls = asked.content.filter(({ type }) => type === "tool_use");
    const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: result }));
    messages.push({ role: "assistant", content: asked.content }, { role: "user", content: results });
    const said = await ask(messages);
    messages.push({ role: "assistant", content: said.content });
    turns.push({
      calls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
      finish: asked.stop_reason,
      text: said.content.map((block) => block.text ?? "").join(""),
      last_finish: said.stop_reason,
    });
  }
  return turns;
}

async function run(prompt) {
  const cities = [];
  const weather = {
    ...tools[0],
    parse: (input) => input,
    run: ({ city }) => {
      cities.push(city);
      if (city === "Nowhere") throw new Error("no such place");
      return "18 degrees";
    },
  };
  const messages = [{ role: "user", content: prompt }];
  const stream = way === "streamed";
  const loop = client.beta.messages.toolRunner({ model, max_tokens: 1000, tools: [weather], messages, stream });
  const turns = [];
  for await (const turn of loop) turns.push(stream ? await turn.finalMessage() : turn);
  const text = turns.at(-1).content.map((block) => block.text ?? "").join("");
  return { cities, finishes: turns.map((turn) => turn.stop_reason), text };
}

const held = [];
for (const talk of talks) held.push(await hold(talk));
console.log(JSON.stringify(runner ? await run(runner) : held));
