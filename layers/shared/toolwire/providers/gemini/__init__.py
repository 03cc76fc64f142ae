"""The generateContent wire: Gemini on Google's API and on Vertex AI."""
