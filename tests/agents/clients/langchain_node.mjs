// LangChain for Node: an agent over two of its vendors' packages.
//
// name: LangChain for Node
// install: npm langchain@1.5.14 @langchain/openai@1.6.0 @langchain/anthropic@1.5.11 @langchain/core@1.4.0 zod@4.6.7
// ways: chat, chat-streamed, responses, messages, messages-streamed
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { BASE, ROOT, STREAMED, TURNS, WAY, broken, note } from "./tools.mjs";

const configuration = { baseURL: BASE };
const MODELS = {
  chat: (model) => new ChatOpenAI({ model, apiKey: "none", configuration, maxRetries: 1 }),
  responses: (model) =>
    new ChatOpenAI({ model, apiKey: "none", configuration, maxRetries: 1, useResponsesApi: true, zdrEnabled: true }),
  messages: (model) => new ChatAnthropic({ model, apiKey: "none", anthropicApiUrl: ROOT, maxRetries: 1 }),
};
const fails = () => {
  try {
    return broken();
  } catch (error) {
    return String(error);
  }
};
const tools = [
  tool(note, { name: "note", description: "Notes a word.", schema: z.object({ word: z.string() }) }),
  tool(fails, { name: "broken", description: "Does not work.", schema: z.object({}) }),
];

let messages = [];
for (const [model, content] of TURNS) {
  const agent = createAgent({ model: MODELS[WAY.replace("-streamed", "")](model), tools });
  const asked = { messages: [...messages, { role: "user", content }] };
  if (STREAMED) {
    for await (const [mode, part] of await agent.stream(asked, { streamMode: ["messages", "values"] }))
      if (mode === "values") messages = part.messages;
  } else {
    messages = (await agent.invoke(asked)).messages;
  }
  console.log(messages.at(-1).text);
}
