"""Aspects in peer reviews, and long papers cut to what a model can read.

After Yuan, Liu and Neubig 2021, "Can We Automate Scientific Reviewing?" (https://arxiv.org/abs/2102.00176).
"""
