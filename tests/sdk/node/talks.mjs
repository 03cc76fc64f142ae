// Holds the conversations that it gets on stdin, with the official openai Node SDK, and prints what it saw as JSON.
//
// in:  {base, model, way, tools, talks: [{prompts, result}]}
// out: [[{calls: [{id, name, arguments}], finish, text, last_finish}, ...], ...]   a list of turns for each talk

import assert from "node:assert/strict";
import { text } from "node:stream/consumers";

import OpenAI from "openai";

// Three ways to ask: a request's members in, the assistant's message and the finish reason out.
const ways = {
  async whole(client, request) {
    const answer = await client.chat.completions.create(request);
    return [answer.choices[0].message, answer.choices[0].finish_reason];
  },

  async helper(client, request) {
    const stream = client.chat.completions.stream(request);
    const answer = await stream.finalChatCompletion();
    return [answer.choices[0].message, answer.choices[0].finish_reason];
  },

  async raw(client, request) {
    const message = { role: "assistant", content: "", tool_calls: [] };
    const finishes = [];
    const stream = await client.chat.completions.create({ ...request, stream: true });
    for await (const chunk of stream) {
      const [choice] = chunk.choices;
      message.content += choice.delta.content ?? "";
      if (choice.finish_reason) finishes.push(choice.finish_reason);
      for (const { index, ...part } of choice.delta.tool_calls ?? []) {
        if (index === message.tool_calls.length) message.tool_calls.push({ ...part, function: { ...part.function } });
        else message.tool_calls[index].function.arguments += part.function.arguments;
      }
    }
    assert.equal(finishes.length, 1);
    if (!message.tool_calls.length) delete message.tool_calls;
    return [message, finishes[0]];
  },
};

const shown = (calls) => (calls ?? []).map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: given }));

// The loop as a program writes it.
async function byHand(client, ask, { model, tools }, talk) {
  const messages = [];
  const turns = [];
  for (const prompt of talk.prompts) {
    messages.push({ role: "user", content: prompt });
    const [asked, finish] = await ask(client, { model, messages, tools });
    messages.push(asked);
    for (const { id } of asked.tool_calls ?? []) messages.push({ role: "tool", tool_call_id: id, content: talk.result });
    const [said, lastFinish] = await ask(client, { model, messages, tools });
    messages.push(said);
    turns.push({ calls: shown(asked.tool_calls), finish, text: said.content, last_finish: lastFinish });
  }
  return turns;
}

// The loop as the SDK's own runner does it: it calls the functions itself, with parsed arguments.
async function byRunner(client, stream, { model, tools }, talk) {
  let messages = [];
  const turns = [];
  for (const prompt of talk.prompts) {
    const finishes = [];
    const runner = client.chat.completions.runTools({
      model,
      stream,
      messages: [...messages, { role: "user", content: prompt }],
      tools: tools.map((tool) => ({
        ...tool,
        function: { ...tool.function, parse: JSON.parse, function: () => talk.result },
      })),
    });
    runner.on("chatCompletion", (answer) => finishes.push(answer.choices[0].finish_reason));
    const said = await runner.finalContent();
    const calls = runner.messages.slice(messages.length).flatMap((message) => shown(message.tool_calls));
    messages = runner.messages;
    turns.push({ calls, finish: finishes[0], text: said, last_finish: finishes.at(-1) });
  }
  return turns;
}

const asked = JSON.parse(await text(process.stdin));
const client = new OpenAI({ apiKey: "sk-nobody", baseURL: asked.base, maxRetries: 0, timeout: 20_000 });
const held = [];
for (const talk of asked.talks) {
  const byTheRunner = asked.way.startsWith("runTools");
  if (byTheRunner) held.push(await byRunner(client, asked.way === "runTools streamed", asked, talk));
  else held.push(await byHand(client, ways[asked.way], asked, talk));
}
console.log(JSON.stringify(held));
