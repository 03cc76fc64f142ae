// Vercel's AI SDK, by four of its providers.
//
// name: Vercel AI SDK
// install: npm ai@7.0.173 @ai-sdk/openai@4.0.118 @ai-sdk/openai-compatible@3.0.92 @ai-sdk/anthropic@4.0.105 @ai-sdk/google@4.0.121
// ways: chat, chat-streamed, responses, responses-streamed, messages, messages-streamed, gemini, gemini-streamed
// known: picture gemini: @ai-sdk/google's: an image alone is sent as the user's, without a functionResponse
// known: picture gemini-streamed: @ai-sdk/google's: an image alone is sent as the user's, without a functionResponse
// picture: [demo call picture {}]
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { BASE, NOTE, NOTHING, PNG, ROOT, STREAMED, TURNS, WAY, broken, note } from "./tools.mjs";

const apiKey = "none";
const provider = {
  chat: () => createOpenAICompatible({ name: "toolwire", baseURL: BASE, apiKey, includeUsage: true }),
  responses: () => createOpenAI({ baseURL: BASE, apiKey }),
  messages: () => createAnthropic({ baseURL: BASE, apiKey }),
  gemini: () => {
    const google = createGoogleGenerativeAI({ baseURL: `${ROOT}/v1beta`, apiKey });
    return (model) => google(`models/${model}`); // a name with a slash is a whole path for it
  },
}[WAY.replace("-streamed", "")]();
const of = (schema, execute) => tool({ inputSchema: jsonSchema(schema), execute });
const tools = {
  note: of(NOTE, note),
  broken: of(NOTHING, broken),
  picture: tool({
    inputSchema: jsonSchema(NOTHING),
    execute: () => PNG,
    toModelOutput: () => ({ type: "content", value: [{ type: "file", mediaType: "image/png", data: { type: "data", data: PNG } }] }),
  }),
};

let messages = [];
for (const [model, content] of TURNS) {
  messages.push({ role: "user", content });
  const asked = { model: provider(model), messages, tools, stopWhen: stepCountIs(9), maxRetries: 1 };
  asked.providerOptions = { openai: { store: false } };
  let failure;
  const result = STREAMED ? streamText({ ...asked, onError: ({ error }) => (failure = error) }) : await generateText(asked);
  if (STREAMED) for await (const _ of result.fullStream);
  if (failure) throw failure;
  console.log(await result.text);
  messages.push(...(await result.response).messages);
}
