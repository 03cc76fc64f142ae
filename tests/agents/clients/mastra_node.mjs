// Mastra, with the AI SDK's provider for compatible hosts.
//
// name: Mastra
// install: npm @mastra/core@1.71.0 @ai-sdk/openai-compatible@3.0.92 zod@4.6.7
// ways: chat, chat-streamed
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { BASE, STREAMED, TURNS, broken, note } from "./tools.mjs";

const provider = createOpenAICompatible({ name: "toolwire", baseURL: BASE, apiKey: "none" });
const tools = {
  note: createTool({
    id: "note",
    description: "Notes a word.",
    inputSchema: z.object({ word: z.string() }),
    execute: async (input) => note(input.context ?? input),
  }),
  broken: createTool({ id: "broken", description: "Does not work.", inputSchema: z.object({}), execute: async () => broken() }),
};

let messages = [];
for (const [model, content] of TURNS) {
  const instructions = "You note words.";
  const agent = new Agent({ id: "agent", name: "agent", instructions, model: provider(model), tools, maxRetries: 1 });
  messages.push({ role: "user", content });
  const result = STREAMED ? await agent.stream(messages, { maxSteps: 9 }) : await agent.generate(messages, { maxSteps: 9 });
  if (STREAMED) for await (const part of result.fullStream) if (part.type === "error") throw part.payload?.error ?? part;
  console.log(await result.text);
  messages.push({ role: "assistant", content: await result.text });
}
