// Holds the conversations that it gets on stdin, with the official anthropic Node SDK, and prints what it saw as JSON.
//
// in:  {base, model, way, tools, talks: [{prompts, result}]}
// out: [[{calls: [{id, name, arguments}], finish, text, last_finish}, ...], ...]   a list of turns for each talk

import { text } from "node:stream/consumers";

import Anthropic from "@anthropic-ai/sdk";

const { base, model, way, tools, talks } = JSON.parse(await text(process.stdin));
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

const held = [];
for (const talk of talks) held.push(await hold(talk));
console.log(JSON.stringify(held));
