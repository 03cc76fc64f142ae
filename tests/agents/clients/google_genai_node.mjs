// Google's SDK for Node: a loop by hand.
//
// name: google-genai for Node
// install: npm @google/genai@3.3.0
// ways: gemini, gemini-streamed
import { GoogleGenAI } from "@google/genai";
import { NOTE, NOTHING, ROOT, STREAMED, TURNS, broken, note } from "./tools.mjs";

const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: ROOT, timeout: 30_000 } });
const RUN = { note, broken };
const functionDeclarations = [
  { name: "note", description: "Notes a word.", parametersJsonSchema: NOTE },
  { name: "broken", description: "Does not work.", parametersJsonSchema: NOTHING },
];

function answer({ id, name, args }) {
  try {
    return { functionResponse: { id, name, response: { output: RUN[name](args) } } };
  } catch (error) {
    return { functionResponse: { id, name, response: { error: String(error) } } };
  }
}

let history = [];
for (const [model, prompt] of TURNS) {
  const chat = client.chats.create({ model, history, config: { tools: [{ functionDeclarations }] } });
  let message = prompt;
  let text = "";
  while (message) {
    const calls = [];
    text = "";
    const said = STREAMED ? await chat.sendMessageStream({ message }) : [await chat.sendMessage({ message })];
    for await (const chunk of said) {
      calls.push(...(chunk.functionCalls ?? []));
      text += chunk.candidates[0].content?.parts?.map((part) => (part.thought ? "" : (part.text ?? ""))).join("") ?? "";
    }
    message = calls.length ? calls.map(answer) : null;
  }
  console.log(text);
  history = chat.getHistory();
}
