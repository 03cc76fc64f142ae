// What a client's file is told, and the tools that its model may call.
import { appendFileSync } from "node:fs";

export const { BASE, ROOT, WAY } = process.env;
export const TURNS = JSON.parse(process.env.TURNS);
export const STREAMED = WAY.endsWith("-streamed");

export function note({ word }) {
  appendFileSync("log.txt", `${word}\n`);
  return `noted ${word}`;
}

export function broken() {
  throw new Error("it is broken");
}

export const NOTE = {
  type: "object",
  properties: { word: { type: "string" } },
  required: ["word"],
  additionalProperties: false,
};
export const NOTHING = { type: "object", properties: {}, required: [], additionalProperties: false };
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
