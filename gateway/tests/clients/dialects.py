"""Each dialect as its official client speaks it: what it asks, what it gets, and what it raises."""

import base64

import anthropic
import openai
from google import genai
from google.genai import errors, types

from gateway import PATIENCE

#: A picture of one pixel.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


class OpenAI:
    dialect = "openai"
    broken = openai.APIError
    refused = openai.APIStatusError
    limited = openai.RateLimitError
    key_header = "authorization"

    def __init__(self, gateway, retries=0, key="any"):
        self.client = openai.OpenAI(
            base_url=f"{gateway.url}/v1", api_key=key, max_retries=retries, timeout=PATIENCE)

    def close(self):
        self.client.close()


class Chat(OpenAI):
    def ask(self):
        answer = self.client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
        return answer.choices[0].message.content

    def stream(self):
        chunks = self.client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi"}], stream=True)
        for chunk in chunks:
            if chunk.choices[0].delta.content:
                yield chunk.choices[0].delta.content

    def tool(self):
        tools = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]
        chunks = self.client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi"}], stream=True, tools=tools)
        calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
        return calls[0].function.name

    def look(self):
        content = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}]
        self.client.chat.completions.create(model="m", messages=[{"role": "user", "content": content}])


class Completions(OpenAI):
    def ask(self):
        return self.client.completions.create(model="m", prompt="Hi").choices[0].text

    def stream(self):
        for chunk in self.client.completions.create(model="m", prompt="Hi", stream=True):
            if chunk.choices[0].text:
                yield chunk.choices[0].text


class Responses(OpenAI):
    def ask(self):
        return self.client.responses.create(model="m", input="Hi").output_text

    def stream(self):
        done = False
        for event in self.client.responses.create(model="m", input="Hi", stream=True):
            if event.type == "response.output_text.delta":
                yield event.delta
            done = event.type == "response.completed"
        assert done

    def tool(self):
        tools = [{"type": "function", "name": "look_up", "parameters": {"type": "object"}, "strict": False}]
        events = list(self.client.responses.create(model="m", input="Hi", stream=True, tools=tools))
        return events[-1].response.output[0].name

    def look(self):
        content = [{"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}", "detail": "auto"}]
        self.client.responses.create(model="m", input=[{"role": "user", "content": content}])


class Messages:
    dialect = "anthropic"
    broken = anthropic.APIError
    refused = anthropic.APIStatusError
    limited = anthropic.RateLimitError
    key_header = "x-api-key"
    asked = [{"role": "user", "content": "Hi"}]

    def __init__(self, gateway, retries=0, key="any"):
        self.client = anthropic.Anthropic(
            base_url=gateway.url, api_key=key, max_retries=retries, timeout=PATIENCE)

    def close(self):
        self.client.close()

    def ask(self):
        return self.client.messages.create(model="m", max_tokens=9, messages=self.asked).content[0].text

    def stream(self):
        with self.client.messages.stream(model="m", max_tokens=9, messages=self.asked) as stream:
            yield from stream.text_stream
            final = stream.get_final_message()
        assert final.stop_reason == "end_turn"
        assert (final.usage.input_tokens, final.usage.output_tokens) == (1, 2)

    def tool(self):
        tools = [{"name": "look_up", "input_schema": {"type": "object"}}]
        with self.client.messages.stream(model="m", max_tokens=9, messages=self.asked, tools=tools) as stream:
            return stream.get_final_message().content[0].name

    def look(self):
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        content = [{"type": "image", "source": source}]
        self.client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": content}])


class Gemini:
    dialect = "gemini"
    broken = errors.APIError
    refused = errors.APIError
    limited = errors.ClientError
    key_header = "x-goog-api-key"

    def __init__(self, gateway, retries=0, key="any"):
        retry = types.HttpRetryOptions(attempts=retries + 1, initial_delay=0.6, max_delay=0.6)
        self.client = genai.Client(api_key=key, http_options=types.HttpOptions(
            base_url=gateway.url, timeout=PATIENCE * 1000, retry_options=retry))

    def close(self):
        self.client.close()

    def ask(self):
        return self.client.models.generate_content(model="m", contents="Hi").text

    def stream(self):
        for chunk in self.client.models.generate_content_stream(model="m", contents="Hi"):
            yield chunk.text

    def tool(self):
        declared = types.FunctionDeclaration(name="look_up", parameters_json_schema={"type": "object"})
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declared])],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True))
        chunks = list(self.client.models.generate_content_stream(model="m", contents="Hi", config=config))
        return chunks[-1].function_calls[0].name

    def look(self):
        part = types.Part.from_bytes(data=base64.b64decode(PICTURE), mime_type="image/png")
        self.client.models.generate_content(model="m", contents=[part])


ALL = [Chat, Completions, Responses, Messages, Gemini]
WITH_TOOLS = [Chat, Responses, Messages, Gemini]
FAMILIES = [Chat, Messages, Gemini]
