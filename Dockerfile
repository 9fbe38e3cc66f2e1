# docker build -t bup-explorer .            (DATA=no leaves the citation graphs out)
# docker run -p 8501:8501 bup-explorer      then open http://localhost:8501
FROM python:3.11-slim AS build
# PyTorch for processors alone is gigabytes smaller: give pip its index with
# --build-arg PIP_EXTRA_INDEX_URL=...
ARG PIP_EXTRA_INDEX_URL
WORKDIR /source
COPY requirements.txt ./
RUN python -m venv /venv
RUN /venv/bin/python -m pip install --no-cache-dir -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY bup bup
COPY dashboard dashboard
RUN /venv/bin/python -m pip install --no-cache-dir --no-deps .

FROM python:3.11-slim
ARG DATA=yes
RUN useradd --create-home --uid 1000 visitor
COPY --from=build /venv /venv
USER visitor
WORKDIR /home/visitor
ENV PATH=/venv/bin:$PATH BUP_CACHE=/home/visitor/cache STREAMLIT_SERVER_HEADLESS=true
RUN mkdir -p cache && if [ "$DATA" = yes ]; then bup graphs --fetch; fi
EXPOSE 8501
HEALTHCHECK --start-period=120s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://localhost:8501/_stcore/health', timeout=5)"]
CMD ["bup", "dashboard", "--shared", "--no-prepare"]
